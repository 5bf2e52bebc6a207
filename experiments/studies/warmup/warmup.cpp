// Does post-norm need a warm-up of the learning rate, and does pre-norm not?
//
// Claims (Xiong et al. 2020): at initialization the gradient of the last layer is large in a post-LayerNorm
// Transformer of any depth, and falls as 1/√L in a pre-LayerNorm one of L blocks (G04); hence the first needs
// warm-up and the second does not (G05; source 003 says so of post-norm, D36).
//
// Expected: a block adds between 1/2 (feed-forward alone) and 3/2 (attention to one place) to the stream's
// variance, and the last norm divides the gradient by its std, √(1 + L/2) to √(1 + 3L/2): exponents of −0.39
// to −0.45 from 2 to 32 blocks, −0.5 in the limit. Post-norm: 0.
#include "../../../nn/lm/feed_forward.h"
#include "../../../nn/model.h"
#include "../../../nn/observe.h"
#include "../../lm/training/small_config.h"
#include "../../run/measurements.h"
#include "../../run/program.h"

using namespace isobar;

namespace {

struct Config : TinyConfig {
  Config() { init_std = 0.125; }
  std::vector<int64_t> depths = {2, 4, 8, 16, 32};
  int64_t n_layer = 6;  // Xiong's, and that of Vaswani et al. 2017
  int64_t n_embd = 64;
  int64_t steps = 100;
  std::vector<double> learning_rates = {1e-2};

  void fields(Fields& f) override {
    f("depths", depths, "blocks of the nets whose gradient is measured before training", at_least(1));
    f("n_layer", n_layer, "blocks of the nets that are trained", at_least(1));
    f("n_embd", n_embd, "width of the residual stream, and of the feed-forward part", at_least(1));
    f("steps", steps, "steps of a training", at_least(1));
    f("learning_rates", learning_rates, "learning rates of AdamW", above(0));
    TinyConfig::fields(f);
  }
};

LmConfig training_of(const Config& config, const std::string& placement, int64_t layers, double rate,
                     int64_t warmup) {
  LmConfig training = config.training(config.n_embd, layers, config.steps, rate);
  training.placement = placement;
  training.norm = "layernorm";
  training.ffn = "relu";
  training.hidden = config.n_embd;
  training.warmup_iters = config.steps * warmup / 100;
  training.check_together();
  return training;
}

// LanguageModel's own initial values shrink with depth.
LanguageModel model_of(const Config& config, const LmConfig& training, int64_t vocabulary, const Rng& rng) {
  LanguageModel model(config.model(training, vocabulary), rng);
  for (const NamedModule& part : named_modules(model))
    if (part.path.ends_with("o_proj") || part.path.ends_with("linear2")) {
      Tensor& weight = dynamic_cast<Linear&>(*part.module).weight;
      assign(weight, weight.detach() * std::sqrt(2.0 * static_cast<double>(training.n_layer)));
    }
  return model;
}

// Of the last block's linear2 before training, for each depth.
std::vector<double> last_gradients(const Config& config, const TinyText& text, const std::string& placement,
                                   const std::vector<double>& depths, int64_t seed) {
  const Rng rng(static_cast<uint64_t>(seed));
  std::vector<double> norms;
  for (const double layers : depths) {
    const LmConfig training = training_of(config, placement, static_cast<int64_t>(layers), 1e-3, 0);
    LanguageModel model = model_of(config, training, text.vocab_size(), rng.split("model"));
    gradients_of(model, text.train.random_batch(config.batch_size, rng.split("batch").split(0)), rng);
    const auto& last = dynamic_cast<FeedForward&>(*model.blocks.back().mlp).linear2;
    norms.push_back(moments_of(last.weight.grad()).norm);
  }
  return norms;
}

double gain(const Config& config, const TinyText& text, const LmConfig& training, int64_t seed) {
  const Rng rng(static_cast<uint64_t>(seed));
  LanguageModel model = model_of(config, training, text.vocab_size(), rng.split("model"));
  return gain_of(model, training, text, rng);
}

void measure_gradients(Grid& grid, Run& run, const Config& config, const TinyText& text,
                       Measurements& measured) {
  std::vector<double> depths(config.depths.begin(), config.depths.end());
  std::ranges::sort(depths);
  const double doublings = std::log2(depths.back() / depths.front());
  Plot plot{
      .title = {"gradient of the last feed-forward matrix before training", "训练前最后一个前馈矩阵的梯度"},
      .x = {"blocks", "块数"},
      .y = {"Frobenius norm", "Frobenius 范数"},
      .log = true,
      .figures = {"weight_grad_norm."}};
  for (const std::string placement : {"pre", "post"}) {
    std::vector<Json> rows;
    for (int64_t i = 0; i < std::max<int64_t>(10, config.seeds); ++i)
      rows.push_back({{"placement", placement}, {"depths", depths}, {"seed", run.seed() + i}});
    const auto norms = grid.train<std::vector<double>>(rows, [&](size_t i) {
      return last_gradients(config, text, placement, depths, run.seed() + static_cast<int64_t>(i));
    });
    PlotCurve curve{.label = placement + "-norm"};
    for (size_t d = 0; d < depths.size(); ++d) {
      const std::string key = fmt::format("weight_grad_norm.{}.L{}", placement, depths[d]);
      for (const std::vector<double>& of_seed : norms) measured.add(key, of_seed[d]);
      curve.add(depths[d], measured.spread(key));
    }
    plot.curves.push_back(curve);
    for (const std::vector<double>& of_seed : norms)
      measured.add("weight_grad_norm." + placement + ".exponent",
                   std::log2(of_seed.back() / of_seed.front()) / doublings, placement == "pre" ? -0.5 : 0);
  }
  run.plot(plot);
  const auto theory = [&](double c) {  // of √(1 + c L)
    return std::log2((1 + c * depths.front()) / (1 + c * depths.back())) / 2 / doublings;
  };
  const Spread pre = measured.spread("weight_grad_norm.pre.exponent");
  const double error = 4 * pre.linear.sd / std::sqrt(static_cast<double>(pre.n));
  if (run.preset_unchanged())
    run.expect("pre-norm's gradient falls as the inverse of the stream's std",
               pre.linear.mean > theory(1.5) - error && pre.linear.mean < theory(0.5) + error,
               fmt::format("exponent {:.3f} ± {:.3f}, theory {:.3f} to {:.3f}", pre.linear.mean, error,
                           theory(1.5), theory(0.5)));
}

void train_all(Grid& grid, Run& run, const Config& config, const TinyText& text, Measurements& measured) {
  constexpr std::array<int64_t, 4> warmups = {0, 10, 30, 60};  // percent of the steps
  std::vector<LmConfig> nets;                                  // of one rate: pre-norm's, then post-norm's
  for (const double rate : config.learning_rates)
    for (const char* placement : {"pre", "post"})
      for (const int64_t warmup : warmups)
        nets.push_back(training_of(config, placement, config.n_layer, rate, warmup));
  const size_t n = nets.size(), of_placement = warmups.size(), of_rate = 2 * of_placement;
  std::vector<Json> rows;
  for (int64_t seed = run.seed(); seed < run.seed() + config.seeds; ++seed)
    for (const LmConfig& net : nets)
      rows.push_back({{"placement", net.placement},
                      {"learning_rate", net.learning_rate},
                      {"warmup_iters", net.warmup_iters},
                      {"seed", seed}});
  const std::vector<double> gains = grid.train<double>(rows, [&](size_t i) {
    return gain(config, text, nets[i % n], run.seed() + static_cast<int64_t>(i / n));
  });
  for (size_t i = 0; i < gains.size(); ++i) {
    const size_t net = i % n, seed = i - net;
    const double pre = gains[seed + net / of_rate * of_rate],
                 none = gains[seed + net / of_placement * of_placement];
    const std::string key = fmt::format("{}.lr_{}.warmup_{}.", nets[net].placement, nets[net].learning_rate,
                                        warmups[net % of_placement]);
    measured.add(key + "gain_over_unigram", gains[i] / text.unigram_loss());
    measured.add(key + "share_of_pre", gains[i] / pre);
    measured.add(key + "minus_none.share_of_pre", (gains[i] - none) / pre);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Config config;
  return run_program(
      {.name = "warmup",
       .about = "Does post-norm need a warm-up, and pre-norm none?",
       .example = "warmup --n_layer 12 --learning_rates 3e-3,1e-2",
       .page = "studies/warmup/README.md",
       .trained =
           {{.of = "weight_grad_norm."},
            {.en = "{n_layer} blocks of width {n_embd}, {steps} steps on {corpus}, rates {learning_rates}",
             .zh = "{n_layer} 块、宽 {n_embd}，在{corpus}上训练 {steps} 步，学习率 {learning_rates}"}},
       .presets = {{"quick", "one rate, 100 steps"},
                   {"full", "three rates, 250 steps, five seeds",
                    "--seeds 5 --steps 250 --learning_rates 1e-3,3e-3,1e-2"}},
       .tiny =
           "--depths 1,2 --n_layer 1 --n_embd 16 --learning_rates 1e-2 --steps 4 --seeds 1 --eval_iters 1",
       .shares = true,
       .check =
           [&] {
             check(config.depths.size() > 1, "--depths: wanted at least two, got {}", config.depths[0]);
             check(config.warmup_iters == 0, "--warmup_iters: this study sets it; leave it out");
           }},
      config, argc, argv, [&](Run& run) {
        const TinyText text(config.corpus, config.block_size);
        text.corpus.announce(run);
        run.summary()["corpus"] = text.name();
        Measurements measured;
        Grid grid(run);
        measure_gradients(grid, run, config, text, measured);
        train_all(grid, run, config, text, measured);
        grid.finish();
        measured.publish(run);
        measured.print(run);
      });
}
