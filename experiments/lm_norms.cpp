// Which norm, before or behind the branch, trains a small language model best, and by how much?
//
// Claims: RMSNorm does as well as LayerNorm (sources 000 A13 and 003 D23; 003 prints a perplexity 0.24 %
// lower for a Llama of 7B, D21, which cannot be run here); deep Transformers cannot be trained without norms
// (003 D10); pre-norm bears higher learning rates and more layers than post-norm (003 D29); DyT with its √d
// kept explicit may be better (004 F08); DyT keeps the signal from exploding (004 F12); no elementwise
// function beats normalization (004 F20).
//
//   lm_norms                   eight nets of 4 blocks, and pre against post in 16 blocks          3 minutes
//   lm_norms --full            all nets, 4 and 16 blocks, widths of 64 and 128, three rates        1.5 hours
//   lm_norms --nets pre.rmsnorm,post.rmsnorm --learning_rates 3e-3,1e-2,3e-2 --deep_nets ""
//
// Held fixed: tokens, initial weights by name (embedding of std 1; 0.02 would move the loss more than the
// norm does), AdamW, clipping at 1, no warm-up, no biases (so LayerNorm differs from RMSNorm by its mean
// alone). nGPT (004 F17) normalizes vectors and weights instead: an embedding of length 1, no weight decay,
// and as many key/value heads as query heads, hence more parameters; the table shows how many.
//
// Expected: LayerNorm and RMSNorm within 0.02 nats, less than seeds differ; DyT with √d, DyISRU and no norm
// at all beside them; DyT(0.5) 0.1 behind. With 16 blocks and a rate of 1e-2 post-norm stops at the loss of
// the letters' frequencies, 3.35, and its gradient dies; pre-norm bears that rate.
//
// Written: run.h5 (/series/<size>/<net>/lr_<rate>/…: a row per seed, a column per block), runs.csv,
// blocks.csv, summary.json; tokens per second and memory under its "timing".
#include <algorithm>
#include <cmath>

#include "harness/lists.h"
#include "harness/program.h"
#include "lm/norm_plots.h"
#include "lm/norm_results.h"
#include "lm/tiny.h"
#include "lm/trial.h"

using namespace isobar;

namespace {

struct Config : TinyConfig {
  std::string nets = "pre.none,pre.layernorm,pre.rmsnorm,pre.dyt,pre.dyt_sqrtd,pre.dyisru,post.rmsnorm,ngpt";
  std::string widths = "64";
  int64_t n_layer = 4;
  std::string learning_rates = "3e-3";
  int64_t steps = 250;
  std::string deep_nets = "pre.rmsnorm,post.rmsnorm";  // 64 wide, or as wide as the first of `widths`
  int64_t deep_layers = 16;
  std::string deep_learning_rates = "3e-3,1e-2";
  int64_t deep_steps = 100;

  void fields(Fields& f) override {
    f("nets", nets, "placement.norm, or ngpt, with commas between: pre.rmsnorm,ngpt; 'pre.none' is no norm");
    f("widths", widths, "of the residual stream, with commas between");
    f("n_layer", n_layer, "blocks");
    f("learning_rates", learning_rates, "of AdamW, with commas between");
    f("steps", steps, "of training");
    f("deep_nets", deep_nets, "nets of the second comparison, with many blocks; empty: none");
    f("deep_layers", deep_layers, "its blocks");
    f("deep_learning_rates", deep_learning_rates, "its learning rates");
    f("deep_steps", deep_steps, "its steps");
    TinyConfig::fields(f);
  }

  void apply_full() {
    *this = Config();
    nets = deep_nets =
        "pre.none,pre.layernorm,pre.rmsnorm,pre.dyt,pre.dyt_sqrtd,pre.dyisru,"
        "post.layernorm,post.rmsnorm,post.dyt,post.dyt_sqrtd,post.dyisru,ngpt";
    widths = "64,128";
    learning_rates = deep_learning_rates = "3e-3,1e-2,3e-2";
  }
};

void add_trials(std::vector<TrialRuns>& trials, const char* flag, const std::string& nets, int64_t width,
                int64_t layers, int64_t steps, const std::vector<double>& rates) {
  for (const std::string& net : words_of(nets)) {
    const size_t dot = std::min(net.find('.'), net.size());
    const std::string placement = net.substr(0, dot), norm = dot < net.size() ? net.substr(dot + 1) : "";
    const Choices& known = norm_names();
    check(net == "ngpt" || ((placement == "pre" || placement == "post") &&
                            std::find(known.begin(), known.end(), norm) != known.end()),
          "--{}: wanted ngpt, or placement.norm such as pre.rmsnorm, got '{}'", flag, net);
    for (const double rate : rates) {
      const std::string size = fmt::format("{}x{}", width, layers);
      for (const TrialRuns& other : trials)
        check(other.trial.size != size || other.trial.net() != net || other.trial.learning_rate != rate,
              "--{}: {} is there twice, with size {} and learning rate {}", flag, net, size, rate);
      trials.push_back({.trial = {.size = size,
                                  .placement = placement,
                                  .norm = norm,
                                  .width = width,
                                  .layers = layers,
                                  .steps = steps,
                                  .learning_rate = rate},
                        .outcomes = {}});
    }
  }
}

// Checks all settings, so that a slip shows before the first hour.
NormResults all_trials(const Config& config) {
  NormResults results{};
  const std::vector<int64_t> widths = numbers_of<int64_t>("widths", config.widths);
  check(!widths.empty(), "--widths: wanted at least one");
  for (const int64_t width : widths)
    add_trials(results.trials, "nets", config.nets, width, config.n_layer, config.steps,
               numbers_of<double>("learning_rates", config.learning_rates));
  add_trials(results.trials, "deep_nets", config.deep_nets, widths.front(), config.deep_layers,
             config.deep_steps, numbers_of<double>("deep_learning_rates", config.deep_learning_rates));
  for (const auto& [flag, layers] :
       {std::pair{"n_layer", config.n_layer}, {"deep_layers", config.deep_layers}})
    check(layers >= 1, "--{}: wanted at least 1, got {}", flag, layers);
  check(config.deep_nets.empty() || config.deep_layers != config.n_layer,
        "--deep_layers: wanted another number than --n_layer's {}", config.n_layer);
  check(!results.trials.empty(), "--nets: wanted at least one");
  for (const TrialRuns& runs : results.trials) training_of(config, runs.trial);
  return results;
}

// A last norm gives the output matrix inputs of mean square 1, so logits start as N(0, s²) with s =
// init_std √width, and the loss as the mean of −z_y + ln Σ eᶻ: ln V + s²/2. nGPT's logits are products of
// vectors of length 1: s = 1/√width.
void expect_start(Run& run, const Config& config, int64_t vocabulary, const NormResults& results) {
  for (const TrialRuns& runs : results.trials) {
    const Trial& t = runs.trial;
    const bool on_sphere = t.placement == "ngpt";
    if (!on_sphere && t.norm != "layernorm" && t.norm != "rmsnorm") continue;
    const auto width = static_cast<double>(t.width);
    const double variance = on_sphere ? 1 / width : config.init_std * config.init_std * width;
    const double theory = std::log(static_cast<double>(vocabulary)) + variance / 2;
    for (const TrialOutcome& outcome : runs.outcomes) {
      // The mean of −z_y is over a few hundred frequent pairs of letters, and has a spread of about s/10.
      run.expect(fmt::format("{} {} lr {}: the first loss is that of random logits", t.size, t.net(),
                             t.learning_rate),
                 std::abs(outcome.start_loss - theory) < 0.5 * std::sqrt(variance),
                 fmt::format("{:.4f}, theory {:.4f}", outcome.start_loss, theory));
      if (on_sphere || (t.placement == "post" && t.norm == "rmsnorm")) {
        const double rms = on_sphere ? 1 / std::sqrt(width) : 1;
        run.expect(fmt::format("{} {} lr {}: every block's output begins with rms {:.4f}", t.size, t.net(),
                               t.learning_rate, rms),
                   std::all_of(outcome.start.rms.begin(), outcome.start.rms.end(),
                               [&](double seen) { return std::abs(seen - rms) < 1e-3 * rms; }),
                   fmt::format("{:.6f} to {:.6f}", *std::ranges::min_element(outcome.start.rms),
                               *std::ranges::max_element(outcome.start.rms)));
      }
    }
  }
}

void study(Run& run, const Config& config) {
  NormResults results = all_trials(config);
  const TinyText text(config.corpus, config.block_size);
  results.unigram_loss = text.unigram_loss();
  run.environment()["corpus"] = text.corpus.source;
  {
    int64_t steps = 0;
    for (const TrialRuns& runs : results.trials) steps += runs.trial.steps * config.seeds;
    Progress progress = run.progress(steps, "steps");
    for (TrialRuns& runs : results.trials) {
      for (int64_t seed = run.seed(); seed < run.seed() + config.seeds; ++seed) {
        runs.outcomes.push_back(train_trial(config, text, runs.trial, seed));
        progress.advance(runs.trial.steps, fmt::format("{} {}, val loss {:.3f}", runs.trial.size,
                                                       runs.trial.net(), runs.outcomes.back().val_loss));
      }
    }
  }
  record_trials(run, results, run.seed());
  print_trials(run, results);
  plot_trials(run, results);
  measure_nets(run, results);
  measure_pairs(run, results);
  expect_start(run, config, text.vocab_size(), results);
}

}  // namespace

int main(int argc, char** argv) {
  Config config;
  return run_program(
      {.name = "lm_norms",
       .about = "Which norm, before or behind the branch, trains a small language model best?",
       .presets = {{"quick", "eight nets of 4 blocks at one learning rate; pre against post in 16 blocks",
                    [&] { config = Config(); }},
                   {"full", "all nets, three sizes, three learning rates", [&] { config.apply_full(); }}}},
      config, argc, argv, [&](Run& run) { study(run, config); });
}
