// Does a Transformer layer learn faster with centring, where centring is said to help?
//
// Claims: LayerNorm may suit tasks better that need strict centring (source 001, section 5.2). The published
// case is "majority" (Brody, Alon, Yahav 2023, arXiv 2305.02582): each position names the most frequent token
// of its sequence, which attention learns sooner where norms project onto the plane orthogonal to (1, …, 1).
// Here source 001's own TransformerLayer is stacked and trained as printed (dropout twice, no final norm).
//
// Sizes are those of the paper's code: 20 kinds of token, sequences of 50, a lead of at least 6, 8 channels,
// one head, logits by the embedding's rows, no positions. Norms differ in their formula alone (no bias).
// rmsnorm_short is that code's norm "without projection", x / ‖x‖ / √d: d times shorter than RMSNorm's
// output, so that attention's logits are d² times smaller.
#include "../../../optim/adam.h"
#include "../../nets/transformer/layer.h"
#include "../../run/measurements.h"
#include "../../run/program.h"

using namespace isobar;

namespace {

constexpr int64_t classes = 20, length = 50, margin = 6, interval = 10;  // steps between evaluations

const bool registered = register_norm("rmsnorm_short", [](const Shape& shape, const NormOptions&) {
  auto norm = std::make_unique<RMSNorm>(shape, RMSNormOptions{.eps = 0});
  norm->weight = full(shape, 1 / static_cast<double>(shape.numel()));  // not trained
  return norm;
});

struct Config : HasFields {
  std::vector<std::string> norms = {"rmsnorm", "layernorm"};
  std::vector<int64_t> depths = {1, 2};
  int64_t d_model = 8, batch = 64, steps = 200, seeds = 7;
  double learning_rate = 1e-2, dropout = 0.1;

  void fields(Fields& f) override {
    f("norms", norms, "norms of the layers; the others are compared with the first one",
      one_of(norm_names()));
    f("depths", depths, "numbers of layers", between(1, 1000));
    f("d_model", d_model, "channels, of one head and inside the feed-forward part", between(1, 1024));
    f("batch", batch, "sequences of a step, drawn anew", between(1, 4096));
    f("steps", steps, "steps of Adam", between(1, 100'000));
    f("seeds", seeds, "number of seeds, from --seed on", between(1, 1000));
    f("learning_rate", learning_rate, "learning rate of Adam", above(0));
    f("dropout", dropout, "after attention and within the feed-forward part", from_to_below(0, 1));
  }
};

struct Sequences {
  Tensor tokens, majority;  // (B, T), i64; the same majority at all positions of a sequence
};

// Of a sequence 6 to 30 tokens are of one kind, the others of any: drawn until that kind leads by `margin`.
Sequences draw(int64_t rows, const Rng& rng) {
  std::vector<int64_t> tokens, majority;
  uint64_t at = 0;
  const auto below = [&](uint64_t bound) { return static_cast<int64_t>(rng.below(bound, at++)); };
  while (std::ssize(tokens) < rows * length) {
    const int64_t most = below(classes), copies = margin + below(length / 2);
    std::vector<int64_t> row, others(classes);
    for (int64_t t = 0; t < length; ++t)
      ++others[static_cast<size_t>(row.emplace_back(t < copies ? most : below(classes)))];
    const int64_t count = std::exchange(others[static_cast<size_t>(most)], 0);
    if (count - std::ranges::max(others) < margin) continue;
    tokens.insert(tokens.end(), row.begin(), row.end());
    majority.insert(majority.end(), row.size(), most);
  }
  return {tensor({rows, length}, tokens), tensor({rows, length}, majority)};
}

transformer_stack::LayerOptions layer_options(const Config& c, const std::string& norm) {
  return {.d_model = c.d_model, .nhead = 1, .dim_feedforward = c.d_model, .dropout = c.dropout, .norm = norm};
}

struct Net : Module {
  Embedding embedding;
  transformer_stack::Stack stack;

  Net(const Config& config, const std::string& norm, int64_t depth, const Rng& rng)
      : embedding(classes, config.d_model, rng.split("embedding")),
        stack(depth, layer_options(config, norm), rng.split("stack")) {}
  // Tokens (B, T) → logits (B, T, classes).
  Tensor forward(const Tensor& tokens) override { return linear(stack(embedding(tokens)), embedding.weight); }
  void fields(Fields& f) override {
    f("embedding", embedding);
    f("stack", stack);
  }
};

using Curve = std::vector<double>;  // accuracy on held-out sequences after 0, 10, 20, … steps

Curve train_net(const Config& config, const std::string& norm, int64_t depth, int64_t seed,
                const Sequences& held_out) {
  const Rng rng(static_cast<uint64_t>(seed));
  Net net(config, norm, depth, rng.split("net"));
  assign_paths(net);  // the keys of dropout's masks
  Adam optimizer(parameters(net), {.lr = config.learning_rate});
  Curve accuracy;
  for (int64_t step = 0;; ++step) {
    if (step % interval == 0) {
      const Evaluation here(net);
      const Tensor right = argmax(net(held_out.tokens), -1) == held_out.majority;
      accuracy.push_back(mean(cast(right, Dtype::f64)).item());
    }
    if (step == config.steps) return accuracy;
    const Sequences batch = draw(config.batch, rng.split("batches").split(static_cast<uint64_t>(step)));
    Tape tape({.rng = rng.split("dropout").split(static_cast<uint64_t>(step))});
    tape.backward(cross_entropy(net(batch.tokens), batch.majority));
    optimizer.step();
  }
}

// Where the straight lines between evaluations reach 90 %; infinite where none does.
double steps_to_90(const Curve& curve) {
  for (size_t i = 1; i < curve.size(); ++i)
    if (curve[i] >= 0.9 && curve[i - 1] < 0.9)
      return interval * (static_cast<double>(i) - (curve[i] - 0.9) / (curve[i] - curve[i - 1]));
  return std::numeric_limits<double>::infinity();
}

// "<norm>.L<depth>.…" of one stack, and in pairs of one seed each what it has more than the first norm's.
PlotCurve add(Run& run, Measurements& measured, const std::string& norm, const std::string& first,
              const std::string& layers, std::span<const Curve> curves, std::span<const Curve> others) {
  PlotCurve mean{norm + layers, Role::measured, {}, Curve(curves[0].size(), 0), {}, {}};
  for (size_t p = 0; p < mean.y.size(); ++p) mean.x.push_back(static_cast<double>(p * interval));
  for (size_t i = 0; i < curves.size(); ++i) {
    const double steps = steps_to_90(curves[i]), accuracy = curves[i].back();
    for (size_t p = 0; p < mean.y.size(); ++p) mean.y[p] += curves[i][p] / static_cast<double>(curves.size());
    run.record(norm + layers, curves[i]);
    measured.add(norm + layers + ".steps", steps);
    measured.add(norm + layers + ".accuracy", accuracy);
    if (norm == first) continue;
    measured.add(fmt::format("{}_over_{}{}.steps", norm, first, layers), steps / steps_to_90(others[i]));
    measured.add(fmt::format("{}_minus_{}{}.accuracy", norm, first, layers), accuracy - others[i].back());
  }
  return mean;
}

}  // namespace

int main(int argc, char** argv) {
  Config config;
  const Program program{
      .name = "majority",
      .about =
          "Does centring help a Transformer layer to learn which token is the most frequent?\n"
          "Source 001's layer, stacked and trained on the task of Brody et al. 2023.",
      .example = "majority --depths 1 --seeds 3",
      .page = "studies/majority/README.md",
      .trained =
          {{.en = "layers of width {d_model}, {steps} steps on sequences with a most frequent "
                  "token, rate {learning_rate}",
            .zh = "宽 {d_model} 的层，在“找出最多的词元”的序列上训练 {steps} 步，学习率 {learning_rate}"}},
      .tiny = "--depths 1 --steps 2 --batch 2 --seeds 1",
      .shares = true};
  return run_program(program, config, argc, argv, [&](Run& run) {
    const std::vector<std::string>& norms = config.norms;
    const auto seeds = static_cast<size_t>(config.seeds);
    const Sequences held_out = draw(256, Rng(0).split("held out"));
    Measurements measured;
    Grid grid(run);
    Plot plot{{"positions that name the majority", "答出多数的位置"},
              {"step", "步"},
              {"share", "占比"},
              false,
              {},
              "",
              {".accuracy", ".steps"}};
    for (const int64_t depth : config.depths) {
      std::vector<Json> rows;
      for (const std::string& norm : norms)
        for (int64_t seed = run.seed(); seed < run.seed() + config.seeds; ++seed)
          rows.push_back({{"norm", norm}, {"depth", depth}, {"seed", seed}});
      const std::vector<Curve> curves = grid.train<Curve>(rows, [&](size_t i) {
        return train_net(config, norms[i / seeds], depth, run.seed() + static_cast<int64_t>(i % seeds),
                         held_out);
      });
      const std::span<const Curve> all(curves);
      for (size_t n = 0; n < norms.size(); ++n)
        plot.curves.push_back(add(run, measured, norms[n], norms[0], fmt::format(".L{}", depth),
                                  all.subspan(n * seeds, seeds), all.first(seeds)));
    }
    grid.finish();
    const double copied = mean(cast(held_out.tokens == held_out.majority, Dtype::f64)).item();
    run.say("A net that says its own token is right at {:.3f} of the positions.\n\n", copied);
    measured.print(run);
    measured.publish(run);
    run.plot(plot);
    if (!run.preset_unchanged()) return;
    const double least = measured.spread("rmsnorm.L1.accuracy").min;
    run.expect("one layer of RMSNorm learns more than that", least > copied + 0.1, number_text(least));
  });
}
