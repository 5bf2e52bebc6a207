// Source 003's block against PyTorch: what PyTorch 1.13.1 computed in f64 (fixtures/torch_norms.json, by
// tests/fixtures/torch_norms.py) and what the library makes of the same numbers; what else it answered.
#include "../../../autograd/autograd.h"
#include "../../../nn/lm/lm.h"
#include "../../../nn/nn.h"
#include "../../run/table.h"
#include "properties.h"

namespace isobar::fixtures {
extern const char torch_norms[];  // made from fixtures/torch_norms.json by CMake
}

namespace isobar::properties {
namespace {

Tensor torch_tensor(const Json& entry) {
  const auto extents = entry.at("shape").get<std::vector<int64_t>>();
  return tensor(Shape{std::span<const int64_t>(extents)}, entry.at("values").get<std::vector<double>>());
}

// A case of torch_norms.json: its tensors by name, y, dy and the gradients of Σ dy y.
struct TorchCase {
  const Json& recorded;

  Tensor operator()(const std::string& name) const { return torch_tensor(recorded.at(name)); }
};

// D24: source 003's MiniMindBlock in PyTorch, with the same weights; and how far it is from post-norm.
void compare_minimind(Measurements& measurements, const Json& all) {
  const TorchCase theirs{all.at("minimind_block")};
  std::vector<NamedTensor> state;
  for (const auto& [name, entry] : theirs.recorded.at("state").items())
    state.push_back({name, torch_tensor(entry)});
  const Rng unused(1);  // every weight is loaded
  for (const Placement placement : {Placement::pre, Placement::post}) {
    TransformerBlock block(
        16,
        std::make_unique<GroupedQueryAttention>(
            16, 4, unused, GroupedQueryAttentionOptions{.n_kv_head = 2, .rope_base = 1e6, .causal = true}),
        std::make_unique<SwiGLU>(16, unused, SwiGLUOptions{.hidden = 8}), {.placement = placement});
    convert(block, Dtype::f64);
    load_state(block, state);
    const Tensor x = theirs("x").set_trainable();
    Tape tape;
    const Tensor y = block(x);
    const double error = largest_difference(y, theirs("y"));
    if (placement == Placement::post) {
      measurements.add("torch.minimind_block.post_norm.difference", error);
      continue;
    }
    measurements.add("torch.minimind_block.error", error, 0, 1e-12);
    tape.backward(y, theirs("dy"));
    measurements.add("torch.minimind_block.gradient_error", largest_difference(x.grad(), theirs("dx")), 0,
                     1e-12);
  }
}

// C07, and the zero vector: what PyTorch answered.
void publish_answers(Measurements& measurements, const Json& all) {
  const auto yes = [](bool answer) { return answer ? 1.0 : 0.0; };
  const Json &promotion = all.at("promotion"), &zero = all.at("zero");
  measurements.add("torch.promotion.fp16_times_f32_is_f32",
                   yes(promotion.at("type_as_before_weight") == "torch.float32"), 1, 0);
  measurements.add("torch.promotion.type_as_last_is_fp16",
                   yes(promotion.at("type_as_after_weight") == "torch.float16"), 1, 0);
  measurements.add("torch.promotion.share_in_type", promotion.at("share_in_type").get<double>());
  measurements.add("torch.zero.rmsnorm.with_eps", zero.at("with_eps").get<double>(), 0, 0);
  measurements.add("torch.zero.rmsnorm.without_eps.is_nan", yes(zero.at("without_eps_is_nan").get<bool>()), 1,
                   0);
}

// torch.std divides by n − 1.
void add_statistics(Measurements& measurements, const std::string& key, const Tensor& x, double mean_theory,
                    double std_theory) {
  measurements.add(key + ".mean", mean(x).item(), mean_theory);
  measurements.add(key + ".std", std_dev(x).item(), std_theory);
}

// The mean over all vectors of √(mean x²).
double mean_rms(const Tensor& x) { return mean(sqrt(mean(square(x), {-1}))).item(); }

void explained(Measurements& measurements, const Rng& rng) {
  RMSNorm norm(512);
  const Tensor x = rng.normal({2, 10, 512}), y = norm(x);
  for (const auto& [name, tensor] : {std::pair{"input", &x}, {"rmsnorm", &y}}) {
    const std::string key = fmt::format("script.explained.{}", name);
    add_statistics(measurements, key, *tensor, 0, 1);
    measurements.add(key + ".min", min(*tensor).item());
    measurements.add(key + ".max", max(*tensor).item());
    measurements.add(key + ".rms", mean_rms(*tensor), 1);
  }
}

void comparison(Measurements& measurements, const Rng& rng) {
  RMSNorm rms(512);
  LayerNorm layer(512);
  const Tensor x = rng.normal({1000, 512}) * 5 + 2;
  const double root = std::sqrt(29.0);  // of 5² + 2²
  add_statistics(measurements, "script.comparison.input", x, 2, 5);
  add_statistics(measurements, "script.comparison.layernorm", layer(x), 0, 1);
  add_statistics(measurements, "script.comparison.rmsnorm", rms(x), 2 / root, 5 / root);
}

}  // namespace

// D39: what two scripts of source 003's learning material print, rmsnorm_explained.py and
// normalization_comparison.py of joyehuang/minimind-notes (468fd2d), in f32, weights 1 and biases 0 as there.

void measure_torch(Measurements& measurements) {
  const Json all = Json::parse(fixtures::torch_norms);
  compare_minimind(measurements, all);
  publish_answers(measurements, all);
}

void measure_scripts(Measurements& measurements, const Rng& rng) {
  explained(measurements, rng.split("explained"));
  comparison(measurements, rng.split("comparison"));
}

void print_scripts(Run& run, const Measurements& measurements) {
  Table table({"script", "tensor", "mean", "std", "min", "max", "rms"}, "llrrrrr");
  const auto row = [&](const char* script, const char* tensor, std::vector<const char*> statistics) {
    std::vector<std::string> cells{script, tensor};
    for (const char* what : statistics)
      cells.push_back(fmt::format(
          "{:.4f}", measurements.spread(fmt::format("script.{}.{}.{}", script, tensor, what)).median));
    cells.resize(7);
    table.row(cells);
  };
  for (const char* tensor : {"input", "rmsnorm"})
    row("explained", tensor, {"mean", "std", "min", "max", "rms"});
  for (const char* tensor : {"input", "layernorm", "rmsnorm"}) row("comparison", tensor, {"mean", "std"});
  run.say(
      "What rmsnorm_explained.py (2 x 10 x 512) and normalization_comparison.py (1000 x 512) print, medians:\n{}\n",
      table.text());
}

}  // namespace isobar::properties
