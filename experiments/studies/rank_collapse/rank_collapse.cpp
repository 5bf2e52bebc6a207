// Do the positions of a sequence become equal in a deep stack of attention, and what stops it?
//
// Claim (Dong, Cordonnier, Loukas 2021, arXiv 2103.03404): without skip connections and MLPs stacked
// attention converges doubly exponentially, at a cubic rate, to a matrix of equal rows; skips and MLPs stop
// it. Source 003, section 1.1, prints a block without skips and asks whether one can leave its norms out.
//
// Norms of r (README.md) are Frobenius norms over all sequences; the paper takes √(‖·‖₁ ‖·‖∞),
// for which the nearest m has no closed form. `order` is the last ratio of the falls of ln r above rounding:
// 1 for an exponential decay, 3 for the paper's bound.
//
// Written: run.h5 (/series/<kind>: r, a row per seed, columns for input and blocks), summary.json.
#include "../../../nn/lm/lm.h"
#include "../../../nn/nn.h"
#include "../../run/grid.h"
#include "../../run/program.h"

using namespace isobar;

namespace {

const Choices all_kinds = {"attention",          "attention.norm",         "attention.mlp",
                           "attention.mlp.norm", "attention.skip",         "attention.skip.norm",
                           "attention.mlp.skip", "attention.mlp.skip.norm"};
constexpr double rounding = 2e-15;  // r of equal rows is 1e-16 to 4e-16

struct Config : HasFields {
  std::vector<std::string> kinds = all_kinds;
  int64_t depth = 24, d_model = 64, length = 16, batch = 4;  // layers as transformer_stack's, four heads
  int64_t seeds = 20;

  void fields(Fields& f) override {
    f("kinds", kinds, "stacks to measure", one_of(all_kinds));
    f("depth", depth, "blocks of a stack", between(1, 10'000));
    f("d_model", d_model, "channels, of four heads; the MLP has four times as many", between(4, 4096));
    f("length", length, "positions of a sequence", between(2, 4096));
    f("batch", batch, "sequences", between(1, 4096));
    f("seeds", seeds, "number of seeds, from --seed on", between(1, 10'000));
  }
};

bool has(const std::string& kind, const char* part) { return kind.find(part) != std::string::npos; }

// x = [x +] attention(N(x)), then, with an MLP, x = [x +] mlp(N(x)); N is RMSNorm or the identity.
struct Block : Module {
  bool skip, mlp;
  std::unique_ptr<Module> norm1, norm2;
  MultiheadAttention attention;
  FeedForward feed_forward;

  Block(const std::string& kind, const Config& config, const Rng& rng)
      : skip(has(kind, ".skip")),
        mlp(has(kind, ".mlp")),
        norm1(make_norm(has(kind, ".norm") ? "rmsnorm" : "none", {config.d_model})),
        norm2(make_norm(has(kind, ".norm") ? "rmsnorm" : "none", {config.d_model})),
        attention(config.d_model, 4, rng.split("attention")),
        feed_forward(config.d_model, 4 * config.d_model, std::make_unique<ReLU>(), rng.split("mlp")) {}

  Tensor forward(const Tensor& x) override {
    const Tensor a = attention((*norm1)(x)), h = skip ? x + a : a;
    if (!mlp) return h;
    const Tensor f = feed_forward((*norm2)(h));
    return skip ? h + f : f;
  }
  void fields(Fields& f) override {
    f("norm1", *norm1);
    f("attention", attention);
    f("norm2", *norm2);
    f("feed_forward", feed_forward);
  }
};

struct Outcome {
  std::vector<double> r;  // of the input, then after each block
  double gradient_ratio;  // norm at attention's output weights: the first block's over the last one's

  void values(RowFields& f) { f("residual", r), f("gradient_ratio", gradient_ratio); }

  // From block 1 on; NaN where r has not fallen below 1 % or is there at once.
  double order() const {
    size_t end = 1;
    while (end + 1 < r.size() && r[end + 1] > rounding) ++end;
    if (end < 3 || r[end] > 0.01) return Run::no_theory;
    return std::log(r[end - 1] / r[end]) / std::log(r[end - 2] / r[end - 1]);
  }
};

// x (B, T, C).
double residual(const Tensor& x) { return moments_of(x - mean(x, {1}, true)).norm / moments_of(x).norm; }

Outcome measure(const std::string& kind, const Config& config, int64_t seed) {
  const Rng rng(static_cast<uint64_t>(seed));
  const Shape shape{config.batch, config.length, config.d_model};
  std::vector<Block> blocks;
  for (int64_t i = 1; i <= config.depth; ++i) {
    blocks.emplace_back(kind, config, rng.split(fmt::format("block {}", i)));
    convert(blocks.back(), Dtype::f64);
  }
  Tape tape;
  Tensor x = rng.split("x").normal(shape, 0, 1, Dtype::f64);
  Outcome outcome{.r = {residual(x)}, .gradient_ratio = 0};
  for (Block& block : blocks) {
    x = block(x);
    outcome.r.push_back(residual(x.detach()));
  }
  tape.backward(sum(rng.split("cotangent").normal(shape, 0, 1, Dtype::f64) * x));
  const auto gradient = [](const Block& b) { return moments_of(b.attention.out_proj.weight.grad()).norm; };
  outcome.gradient_ratio = gradient(blocks.front()) / gradient(blocks.back());
  return outcome;
}

// Publishes one kind's runs as "<kind>.…"; adds its row and its curve.
void publish(Run& run, const std::string& kind, std::span<const Outcome> runs, Table& table, Plot& plot) {
  PlotCurve curve{kind};
  std::vector<std::string> row = {kind};
  const size_t last = runs.front().r.size() - 1;
  for (size_t l = 0; l <= last; ++l) {
    const Spread r = spread_over(runs, [l](const Outcome& outcome) { return outcome.r[l]; });
    curve.x.push_back(static_cast<double>(l));
    curve.y.push_back(std::max(r.median, 1e-17));  // 0 has no place on a logarithmic axis
    if (l > 0) run.measured(fmt::format("{}.L{}.residual", kind, l), r);
  }
  for (const size_t l : {size_t{1}, (last + 7) / 8, last}) row.push_back(number_text(curve.y[l]));
  for (const Outcome& outcome : runs) run.record(kind, outcome.r);
  const Spread order = spread_over(runs, &Outcome::order);
  const Spread gradients = spread_over(runs, &Outcome::gradient_ratio);
  if (order.n > 0) run.measured(kind + ".order", order, 3);
  run.measured(kind + ".weight_grad_norm.first_over_last", gradients);
  row.insert(row.end(), {number_or_dash(order.median), number_text(gradients.median)});
  table.row(std::move(row));
  plot.curves.push_back(std::move(curve));
  if (kind == "attention.norm" && run.preset_unchanged())  // 100 seeds: 2.6 to 3.1
    run.expect("attention with RMSNorm collapses at a cubic rate", std::abs(order.median - 3) < 0.5,
               fmt::format("order {:.2f} [{:.2f}, {:.2f}]", order.median, order.min, order.max));
}

}  // namespace

int main(int argc, char** argv) {
  Config config;
  const Program program{.name = "rank_collapse",
                        .about =
                            "Do positions become equal in a deep attention stack?\n"
                            "And what stops it: skips, an MLP, norms? After Dong et al. 2021.",
                        .example = "rank_collapse --kinds attention,attention.mlp.norm --depth 6",
                        .page = "studies/rank_collapse/README.md",
                        .trained = trains_no_nets,
                        .tiny = "--depth 2 --d_model 8 --length 3 --batch 2 --seeds 2",
                        .shares = true,
                        .check = [&] {
                          check(config.d_model % 4 == 0,
                                "--d_model: wanted a multiple of its four heads, got {}", config.d_model);
                        }};
  return run_program(program, config, argc, argv, [&](Run& run) {
    const std::vector<std::string>& kinds = config.kinds;
    const auto seeds = static_cast<size_t>(config.seeds);
    std::vector<Json> rows;
    for (const std::string& kind : kinds)
      for (int64_t seed = run.seed(); seed < run.seed() + config.seeds; ++seed)
        rows.push_back({{"kind", kind}, {"seed", seed}});
    Grid grid(run);
    const std::vector<Outcome> all = grid.train<Outcome>(rows, [&](size_t i) {
      return measure(kinds[i / seeds], config, run.seed() + static_cast<int64_t>(i % seeds));
    });
    grid.finish();
    Table table({"stack", "r after 1", "an eighth", "all blocks", "order", "gradient, first / last"},
                "lrrrrr");
    Plot plot{{"the part that differs between positions", "各位置之间不同的部分"},
              {"block", "块"},
              "r",
              true,
              {},
              "",
              {".residual", ".order"}};
    for (size_t k = 0; k < kinds.size(); ++k)
      publish(run, kinds[k], std::span(all).subspan(k * seeds, seeds), table, plot);
    run.plot(plot);
    run.say("{} blocks, medians over {} seeds\n\n{}\n", config.depth, config.seeds, table.text());
  });
}
