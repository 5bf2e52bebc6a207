// Which norm, before or after the branch, trains a small language model best, and by how much?
//
// Claims: RMSNorm does as well as LayerNorm (sources 000 A13, 002 C08 and 003 D23, D21) or better (001 B18), as
// centring contributes little (000 A14); norms allow higher rates and learn in fewer steps (001 B14); deep
// Transformers cannot be trained without (003 D10); controlling the variance alone is enough (003 D48); pre-norm
// allows higher rates and more layers than post-norm, which needs warm-up (003 D29, D36); DyT with an explicit √d may be
// better (004 F08) and keeps the signal from exploding (004 F12);
// no elementwise function beats normalization (004 F20) nor replaces it (004 F24).
//
// Held fixed: tokens, initial weights by name (embedding of std 1; 0.02 would move the loss more than the
// norm does), AdamW, clipping at 1, no warm-up, no biases (so layernorm differs from rmsnorm by its mean
// alone; layernorm_bias adds the published one's bias). nGPT normalizes vectors and weights instead: an
// embedding of length 1, no weight decay, and as many key/value heads as query heads, hence more parameters;
// the table shows how many. dyt_equal is DyT that starts as the same function as dyt_sqrtd: alpha = 1/√d, gain
// √d. It differs from it by what a step of AdamW changes, dyt by its initial slope and gain too.
//
// Written: run.h5 (/series/<size>/<net>/lr_<rate>/…: a row per seed, a column per block), runs.csv,
// blocks.csv, summary.json. Trainings run side by side; their time is not measured (see norm_speed).
#include <algorithm>
#include <cmath>

#include "../nn/dyt.h"
#include "../nn/layer_norm.h"
#include "../nn/norm.h"
#include "harness/lists.h"
#include "harness/program.h"
#include "lm/norm_pairs.h"
#include "lm/norm_plots.h"
#include "lm/norm_results.h"
#include "lm/norm_training.h"
#include "lm/tiny.h"
#include "lm/trial.h"

using namespace isobar;

namespace {

// A norm's name is made known to make_norm in this program alone.
std::unique_ptr<Module> layernorm_bias(const Shape& shape, const NormOptions& options) {
  return std::make_unique<LayerNorm>(shape, LayerNormOptions{.eps = options.eps, .bias = true});
}
std::unique_ptr<Module> dyt_equal(const Shape& shape, const NormOptions& options) {
  const double root = std::sqrt(static_cast<double>(shape.numel()));
  auto norm = std::make_unique<DyT>(shape, DyTOptions{.alpha = 1 / root, .bias = options.bias});
  assign(norm->weight, full(shape, root));
  return norm;
}
const bool registered =
    register_norm("layernorm_bias", layernorm_bias) && register_norm("dyt_equal", dyt_equal);

struct Config : TinyConfig {
  std::string nets =
      "pre.none,pre.centernorm,pre.stdnorm,pre.layernorm,pre.rmsnorm,pre.dyt,pre.dyt_sqrtd,pre.dyt_equal,"
      "pre.dyisru,post.rmsnorm,ngpt";
  std::string widths = "64";
  int64_t n_layer = 4;
  std::string learning_rates = "3e-3";
  int64_t steps = 250;
  std::string pair_nets = "pre.layernorm,pre.rmsnorm";
  int64_t pair_seeds = 7;  // 99 % interval of the difference: ±3 % of the gain, of the 5 % that count
  // 64 wide, or as wide as the first of `widths`. Without norms 1e-2 diverges.
  std::string deep_nets = "pre.none@3e-3,pre.rmsnorm,post.rmsnorm";
  int64_t deep_layers = 16;
  std::string deep_learning_rates = "1e-2";
  int64_t deep_steps = 100;
  std::string warmup_nets = "pre.rmsnorm,post.rmsnorm";
  int64_t deep_warmup_iters = 30;

  void fields(Fields& f) override {
    f("nets", nets,
      "placement.norm, or ngpt, with commas between; 'pre.none' is no norm; ngpt@1e-2 has a rate of its own");
    f("widths", widths, "of the residual stream, with commas between");
    f("n_layer", n_layer, "blocks");
    f("learning_rates", learning_rates,
      "of AdamW, with commas between; more are added where the best of several is the least or the greatest");
    f("steps", steps, "of training");
    f("pair_nets", pair_nets, "those of --nets that have --pair_seeds at their best learning rate");
    f("pair_seeds", pair_seeds, "runs of --pair_nets; --seeds where that is more");
    f("deep_nets", deep_nets, "nets of the second comparison, with many blocks; empty: none");
    f("deep_layers", deep_layers, "its blocks");
    f("deep_learning_rates", deep_learning_rates, "its learning rates");
    f("deep_steps", deep_steps, "its steps");
    f("warmup_nets", warmup_nets, "nets of the second comparison that are trained with warm-up as well");
    f("deep_warmup_iters", deep_warmup_iters, "steps of linear warm-up of --warmup_nets; 0: none");
    TinyConfig::fields(f);
  }

  void apply_full() {
    *this = Config();
    nets = pair_nets =
        "pre.none,pre.centernorm,pre.stdnorm,pre.layernorm,pre.layernorm_bias,pre.rmsnorm,pre.dyt,"
        "pre.dyt_sqrtd,pre.dyt_equal,pre.dyisru,post.layernorm,post.rmsnorm,ngpt";
    deep_nets = "pre.none,pre.rmsnorm,post.rmsnorm";
    learning_rates = "1e-3,3e-3,1e-2,3e-2";
    pair_seeds = 20;
    deep_learning_rates = "3e-3,1e-2,3e-2";
  }
};

void check_net(const char* flag, const std::string& net) {
  const size_t dot = std::min(net.find('.'), net.size());
  const std::string placement = net.substr(0, dot), norm = dot < net.size() ? net.substr(dot + 1) : "";
  const Choices &placements = placement_names(), &norms = norm_names();
  const bool known = std::ranges::count(placements, placement) + std::ranges::count(norms, norm) == 2;
  check(net == "ngpt" || (known && (norm == "none" || has_norms(placement_from_name(placement)))),
        "--{}: wanted ngpt, or placement.norm such as pre.rmsnorm or rezero.none, got '{}'", flag, net);
}

// A trial for each net and rate, or at the rate that follows the net's name ("ngpt@1e-2"); the rest of it is as
// in `like`.
void add_trials(std::vector<TrialRuns>& trials, const char* flag, const std::string& nets, const Trial& like,
                const std::vector<double>& all_rates) {
  for (const std::string& word : words_of(nets)) {
    const size_t at = std::min(word.find('@'), word.size());
    const std::string net = word.substr(0, at);
    check_net(flag, net);
    for (const double rate : at < word.size() ? numbers_of<double>(flag, word.substr(at + 1)) : all_rates) {
      for (const TrialRuns& other : trials)
        check(other.trial.size != like.size || other.trial.net() != net || other.trial.learning_rate != rate,
              "--{}: {} is there twice, with size {} and learning rate {}", flag, net, like.size, rate);
      Trial trial = like;
      const size_t dot = net.find('.');
      trial.placement = net.substr(0, dot);
      trial.norm = dot < net.size() ? net.substr(dot + 1) : "";
      trial.learning_rate = rate;
      trials.push_back({.trial = trial, .outcomes = {}});
    }
  }
}

// Defaults that the given settings make impossible give way; a sentence for each.
std::vector<std::string> give_way(Config& config, const std::set<std::string>& given) {
  std::vector<std::string> said;
  const auto change = [&](const char* name, int64_t& value, int64_t now, const char* cause, int64_t is) {
    said.push_back(fmt::format("{} is {} instead of {}, because {} is {}", name, now, value, cause, is));
    value = now;
  };
  if (!given.contains("deep_layers") && config.deep_layers == config.n_layer)
    change("deep_layers", config.deep_layers, 2 * config.n_layer, "n_layer", config.n_layer);
  if (!given.contains("deep_warmup_iters") && config.deep_warmup_iters > config.deep_steps)
    change("deep_warmup_iters", config.deep_warmup_iters, config.deep_steps * 3 / 10, "deep_steps",
           config.deep_steps);
  if (!given.contains("n_kv_head") && config.n_kv_head > 0 && config.n_head % config.n_kv_head != 0)
    change("n_kv_head", config.n_kv_head, config.n_head, "n_head", config.n_head);
  return said;
}

void check_sizes(const Config& config) {
  for (const auto& [flag, layers] :
       {std::pair{"n_layer", config.n_layer}, {"deep_layers", config.deep_layers}})
    check(layers >= 1, "--{}: wanted at least 1, got {}", flag, layers);
  check(config.deep_nets.empty() || config.deep_layers != config.n_layer,
        "--deep_layers: wanted another number than --n_layer's {}", config.n_layer);
  check(config.deep_nets.empty() ||
            (config.deep_warmup_iters >= 0 && config.deep_warmup_iters <= config.deep_steps),
        "--deep_warmup_iters: wanted 0 to deep_steps ({}), got {}", config.deep_steps,
        config.deep_warmup_iters);
  for (const std::string& net : words_of(config.pair_nets)) check_net("pair_nets", net);
  check(config.seeds >= 1, "--seeds: wanted at least 1, got {}", config.seeds);
}

// Checks all settings, so that a slip shows before the first hour.
NormResults all_trials(const Config& config) {
  NormResults results{};
  const std::vector<int64_t> widths = numbers_of<int64_t>("widths", config.widths);
  check(!widths.empty(), "--widths: wanted at least one");
  check_sizes(config);
  const auto trial = [&](int64_t width, int64_t layers, int64_t steps) {
    return Trial{.size = fmt::format("{}x{}", width, layers),
                 .placement = "",
                 .norm = "",
                 .width = width,
                 .layers = layers,
                 .steps = steps,
                 .warmup = config.warmup_iters,
                 .learning_rate = 0};
  };
  for (const int64_t width : widths)
    add_trials(results.trials, "nets", config.nets, trial(width, config.n_layer, config.steps),
               numbers_of<double>("learning_rates", config.learning_rates));
  Trial deep = trial(widths.front(), config.deep_layers, config.deep_steps);
  const std::vector<double> rates = numbers_of<double>("deep_learning_rates", config.deep_learning_rates);
  add_trials(results.trials, "deep_nets", config.deep_nets, deep, rates);
  if (config.deep_warmup_iters > 0 && !config.deep_nets.empty()) {
    deep.size += fmt::format(".warmup_{}", config.deep_warmup_iters);
    deep.warmup = config.deep_warmup_iters;
    add_trials(results.trials, "warmup_nets", config.warmup_nets, deep, rates);
  }
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
    if (!on_sphere && !t.norm.starts_with("layernorm") && t.norm != "rmsnorm") continue;
    const auto width = static_cast<double>(t.width);
    const double variance = on_sphere ? 1 / width : config.init_std * config.init_std * width;
    const double theory = std::log(static_cast<double>(vocabulary)) + variance / 2;
    const std::string name = fmt::format("{} {} lr {}", t.size, t.net(), t.learning_rate);
    std::vector<double> losses, rms;  // of every seed, and of each of its blocks
    for (const TrialOutcome& outcome : runs.outcomes) {
      losses.push_back(outcome.start_loss);
      rms.insert(rms.end(), outcome.start.rms.begin(), outcome.start.rms.end());
    }
    // The mean of −z_y is over a few hundred frequent pairs of letters, and has a spread of about s/10: five
    // such spreads hold for any number of seeds.
    const auto [lowest, highest] = std::ranges::minmax(losses);
    run.expect(name + ": the first loss is that of random logits",
               std::max(theory - lowest, highest - theory) < 0.5 * std::sqrt(variance),
               fmt::format("{:.4f} to {:.4f}, theory {:.4f}", lowest, highest, theory));
    if (!on_sphere && (t.placement != "post" || t.norm != "rmsnorm")) continue;
    const double wanted = on_sphere ? 1 / std::sqrt(width) : 1;
    const auto [least, greatest] = std::ranges::minmax(rms);
    run.expect(fmt::format("{}: every block's output begins with rms {:.4f}", name, wanted),
               std::max(wanted - least, greatest - wanted) < 1e-3 * wanted,
               fmt::format("{:.6f} to {:.6f}", least, greatest));
  }
}

// dyt_equal and dyt_sqrtd are one function before training; tanh in f32 and sums of other sizes differ by
// rounding, some 1e-7 of a loss near 3.
void expect_equal_starts(Run& run, const NormResults& results) {
  for (const std::string& size : results.sizes()) {
    const std::vector<const TrialRuns*> a = results.rates(size, "pre.dyt_equal");
    const std::vector<const TrialRuns*> b = results.rates(size, "pre.dyt_sqrtd");
    if (a.empty() || b.empty()) continue;
    const double equal = a.front()->outcomes.front().start_loss,
                 root = b.front()->outcomes.front().start_loss;
    run.expect(size + " pre.dyt_equal begins with the loss of pre.dyt_sqrtd",
               std::abs(equal - root) < 1e-5 * root, fmt::format("{:.8f} and {:.8f}", equal, root));
  }
}

void train_all(Run& run, const Config& config, const TinyText& text, NormResults& results) {
  const auto each_seed = [&](const TrialRuns&) { return config.seeds; };
  train_trials(run, config, text, results, each_seed);
  while (add_rates_beyond_edges(results)) train_trials(run, config, text, results, each_seed);
  // A pointer of best() stays valid: no more trials are added.
  const std::vector<std::string> pair_nets = words_of(config.pair_nets);
  std::vector<const TrialRuns*> pairs;
  for (const std::string& size : results.sizes())
    for (const std::string& net : pair_nets)
      if (const TrialRuns* best = results.best(size, net);
          best != nullptr && best->trial.layers == config.n_layer)
        pairs.push_back(best);
  train_trials(run, config, text, results, [&](const TrialRuns& runs) {
    return std::ranges::find(pairs, &runs) != pairs.end() ? config.pair_seeds : 0;
  });
}

void study(Run& run, const Config& config) {
  NormResults results = all_trials(config);
  const TinyText text(config.corpus, config.block_size);
  results.unigram_loss = text.unigram_loss();
  run.environment()["corpus"] = text.corpus.source;
  run.summary()["corpus"] = text.name();
  train_all(run, config, text, results);
  record_trials(run, results, run.seed());
  print_trials(run, results);
  plot_trials(run, results);
  measure_nets(run, results);
  measure_pairs(run, results);
  expect_start(run, config, text.vocab_size(), results);
  expect_equal_starts(run, results);
}

}  // namespace

int main(int argc, char** argv) {
  Config config;
  std::vector<std::string> gave_way;
  return run_program(
      {.name = "lm_norms",
       .about = "Which norm, before or after the branch, trains a small language model best?",
       .example = "lm_norms --nets pre.layernorm,pre.rmsnorm --seeds 5",
       .page = "lm/norms.md",
       .presets = {{"quick", "eleven nets of 4 blocks at one learning rate; pre against post in 16 blocks",
                    [&] { config = Config(); }},
                   {"full", "four learning rates and more, more seeds at the best one",
                    [&] { config.apply_full(); }}},
       .tiny = "--nets pre.none,pre.rmsnorm --widths 16 --n_layer 1 --learning_rates 3e-3 --steps 2 "
               "--deep_nets pre.rmsnorm --deep_layers 2 --deep_learning_rates 3e-3 --deep_steps 2 "
               "--deep_warmup_iters 1 --seeds 1 --pair_seeds 1 --eval_iters 1",
       .first_settings = {"nets", "learning_rates", "steps", "seeds", "pair_nets", "pair_seeds", "deep_nets",
                          "deep_layers", "deep_steps", "corpus"},
       .settle = [&](const std::set<std::string>& given) { gave_way = give_way(config, given); }},
      config, argc, argv, [&](Run& run) {
        for (const std::string& sentence : gave_way) run.say("{}\n", sentence);
        study(run, config);
      });
}
