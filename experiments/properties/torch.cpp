// The definitions against PyTorch: what PyTorch 1.13.1 computed in f64 (fixtures/torch_norms.json, by
// tests/fixtures/torch_norms.py) and what the library's norms make of the same numbers. An identity between two
// spellings of our own could hold for two equal mistakes; this one cannot.
#include <cmath>
#include <functional>
#include <string>

#include "../../autograd/autograd.h"
#include "../../nn/nn.h"
#include "../harness/json.h"
#include "properties.h"

namespace isobar::fixtures {
extern const char torch_norms[];  // made from fixtures/torch_norms.json by CMake
}

namespace isobar::properties {
namespace {

constexpr double torch_eps = 1e-5;

Tensor torch_tensor(const Json& entry) {
  const auto extents = entry.at("shape").get<std::vector<int64_t>>();
  return tensor(Shape{std::span<const int64_t>(extents)}, entry.at("values").get<std::vector<double>>());
}

// A case of torch_norms.json: its tensors by name, y, dy and the gradients of Σ dy y.
struct TorchCase {
  const Json& recorded;

  Tensor operator()(const std::string& name) const { return torch_tensor(recorded.at(name)); }
};

using Function = std::function<Tensor(const std::vector<Tensor>&)>;

// Keys "torch.<name>.error" and "torch.<name>.gradient_error": the largest differences of y, and of the gradients
// of all inputs.
void compare(Measurements& measurements, const Json& all, const std::string& name,
             const std::vector<std::string>& inputs, const Function& f) {
  const TorchCase theirs{all.at(name)};
  std::vector<Tensor> tensors;
  for (const std::string& input : inputs) tensors.push_back(theirs(input).set_trainable());
  Tape tape;
  const Tensor y = f(tensors);
  measurements.add("torch." + name + ".error", largest_difference(y, theirs("y")), 0, 1e-13);
  tape.backward(y, theirs("dy"));
  double most = 0;
  for (size_t i = 0; i < inputs.size(); ++i)
    most = std::max(most, largest_difference(tensors[i].grad(),
                                             torch_tensor(theirs.recorded.at("gradients").at(inputs[i]))));
  measurements.add("torch." + name + ".gradient_error", most, 0, 1e-13);
}

// A07, A11, B01, B02, D16, D27, F01, F02.
void compare_norms(Measurements& measurements, const Json& all) {
  const auto rms = [](const Tensor& x, const Tensor& weight) { return rms_norm(x, {8}, weight, torch_eps); };
  compare(measurements, all, "layernorm", {"x", "weight", "bias"},
          [](const auto& t) { return layer_norm(t[0], {8}, t[1], t[2], torch_eps); });
  compare(measurements, all, "rmsnorm", {"x", "weight"}, [&](const auto& t) { return rms(t[0], t[1]); });
  compare(measurements, all, "weight_first", {"x", "weight"}, [&](const auto& t) { return rms(t[0], t[1]); });
  compare(measurements, all, "sqrt_d", {"x"}, [](const auto& t) { return rms_norm(t[0], {8}, {}, 0); });
  compare(measurements, all, "unit", {"x"},
          [](const auto& t) { return t[0] / sqrt(sum(square(t[0]), {-1}, true)); });
  compare(measurements, all, "dyt", {"x", "alpha", "weight", "bias"},
          [](const auto& t) { return dyt(t[0], t[1], t[2], t[3]); });
  compare(measurements, all, "trailing_dimensions", {"x", "weight"}, [](const auto& t) {
    return rms_norm(t[0], {2, 3}, t[1], torch_eps);
  });
}

// C01, with the running statistics after one batch at a momentum of 0.25.
void compare_batch_norm(Measurements& measurements, const Json& all) {
  const TorchCase theirs{all.at("batchnorm")};
  BatchNorm1d norm(8, {.momentum = 0.25});
  convert(norm, Dtype::f64);
  assign(norm.weight, theirs("weight"));
  assign(norm.bias, theirs("bias"));
  measurements.add("torch.batchnorm.error", largest_difference(norm(theirs("x")), theirs("y")), 0, 1e-13);
  measurements.add("torch.batchnorm.running_mean.error",
                   largest_difference(norm.running_mean, theirs("running_mean")), 0, 1e-13);
  measurements.add("torch.batchnorm.running_var.error",
                   largest_difference(norm.running_var, theirs("running_var")), 0, 1e-13);
}

// D28: a TransformerBlock whose branches are matrices.
void compare_placements(Measurements& measurements, const Json& all) {
  const TorchCase theirs{all.at("residual")};
  for (const auto& [name, placement] : {std::pair{"pre", Placement::pre}, {"post", Placement::post}}) {
    TransformerBlock block(8, std::make_unique<Linear>(theirs("a")), std::make_unique<Linear>(theirs("b")),
                           {.placement = placement});
    convert(block, Dtype::f64);
    measurements.add(fmt::format("torch.{}_norm.error", name),
                     largest_difference(block(theirs("x")), theirs(name)), 0, 1e-13);
  }
}

// D24: source 003's MiniMindBlock, its listing run in PyTorch, with the same weights; and how far it is from a block
// with the norms after the sums.
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

// C05, C07, and the zero vector: what PyTorch answered.
void publish_answers(Measurements& measurements, const Json& all) {
  const auto yes = [](bool answer) { return answer ? 1.0 : 0.0; };
  const Json &promotion = all.at("promotion"), &zero = all.at("zero");
  measurements.add("torch.promotion.fp16_times_f32_is_f32",
                   yes(promotion.at("type_as_before_weight") == "torch.float32"), 1, 0);
  measurements.add("torch.promotion.type_as_last_is_fp16",
                   yes(promotion.at("type_as_after_weight") == "torch.float16"), 1, 0);
  measurements.add("torch.promotion.share_in_type", promotion.at("share_in_type").get<double>());
  measurements.add("torch.shape.kept", yes(all.at("shape_of_1x10x512") == Json({1, 10, 512})), 1, 0);
  measurements.add("torch.zero.rmsnorm.with_eps", zero.at("with_eps").get<double>(), 0, 0);
  measurements.add("torch.zero.rmsnorm.without_eps.is_nan", yes(zero.at("without_eps_is_nan").get<bool>()), 1,
                   0);
}

}  // namespace

void measure_torch(Measurements& measurements) {
  const Json all = Json::parse(fixtures::torch_norms);
  compare_norms(measurements, all);
  compare_batch_norm(measurements, all);
  compare_placements(measurements, all);
  compare_minimind(measurements, all);
  publish_answers(measurements, all);
}

}  // namespace isobar::properties
