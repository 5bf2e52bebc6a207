// Which norm, before or after the branch, trains a small language model best, and by how much?
//
// Claims: RMSNorm does as well as LayerNorm (sources 000 A13, 002 C08 and 003 D23, D21) or better (001 B18),
// as centring contributes little (000 A14); norms allow higher rates and learn in fewer steps (001 B14); deep
// Transformers cannot be trained without (003 D10);
// pre-norm allows higher rates and more layers than post-norm, which needs warm-up (003 D29, D36); DyT with
// an explicit √d may be better (004 F08) and keeps the signal from exploding (004 F12); no elementwise
// function beats normalization (004 F20) nor replaces it (004 F24).
//
// Held fixed: tokens, initial weights by name (embedding of std 1; 0.02 would move the loss more than the
// norm does), AdamW, clipping at 1, no warm-up, no biases (so layernorm differs from rmsnorm by its mean
// alone; layernorm_bias adds the published one's bias). nGPT normalizes vectors and weights instead: an
// embedding of length 1, no weight decay, and as many key/value heads as query heads, hence more parameters;
// the table shows how many. dyt_equal is DyT that starts as the same function as dyt_sqrtd: alpha = 1/√d,
// gain √d. It differs from it by what a step of AdamW changes, dyt by its initial slope and gain too.
#include "../../../nn/lm/lm.h"
#include "../../../nn/nn.h"
#include "../../nets/norms/norms.h"
#include "../../run/program.h"
#include "../../run/settings.h"
#include "results.h"

using namespace isobar;

namespace {

// A norm's name is made known to make_norm in this program alone.
std::unique_ptr<Module> dyt_equal(const Shape& shape, const NormOptions& options) {
  const double root = std::sqrt(static_cast<double>(shape.numel()));
  auto norm = std::make_unique<DyT>(shape, DyTOptions{.alpha = 1 / root, .bias = options.bias});
  assign(norm->weight, full(shape, root));
  return norm;
}
const bool registered = register_layernorm_bias() && register_norm("dyt_equal", dyt_equal);

constexpr const char* nets_of_full =
    "pre.none,pre.centernorm,pre.stdnorm,pre.layernorm,pre.layernorm_bias,pre.rmsnorm,pre.dyt,pre.dyt_sqrtd,"
    "pre.dyt_equal,pre.dyisru,post.layernorm,post.rmsnorm,ngpt";

struct Config : TinyConfig {
  std::vector<std::string> nets = {"pre.none",    "pre.centernorm", "pre.stdnorm",   "pre.layernorm",
                                   "pre.rmsnorm", "pre.dyt",        "pre.dyt_sqrtd", "pre.dyt_equal",
                                   "pre.dyisru",  "post.rmsnorm",   "ngpt"};
  std::vector<int64_t> widths = {64};
  int64_t n_layer = 4;
  std::vector<double> learning_rates = {3e-3};
  int64_t steps = 250;
  std::vector<std::string> pair_nets = {"pre.layernorm", "pre.rmsnorm"};
  int64_t pair_seeds = 7;  // 99 % interval of the difference: ±3 % of the gain, of the 5 % that count
  // 64 wide, or as wide as the first of `widths`. Without norms 1e-2 diverges.
  std::vector<std::string> deep_nets = {"pre.none@3e-3", "pre.rmsnorm", "post.rmsnorm"};
  int64_t deep_layers = 16;
  std::vector<double> deep_learning_rates = {1e-2};
  int64_t deep_steps = 100;
  std::vector<std::string> warmup_nets = {"pre.rmsnorm", "post.rmsnorm"};
  int64_t deep_warmup_iters = 30;

  void fields(Fields& f) override {
    Limits known = one_of(net_names());
    known.choices.push_back("ngpt");
    known.may_be_none = true;
    f("nets", nets, "placement.norm, or ngpt; 'pre.none' is no norm; ngpt@1e-2 has a rate of its own",
      or_none());
    f("widths", widths, "widths of the residual stream", at_least(1));
    f("n_layer", n_layer, "blocks", at_least(1));
    f("learning_rates", learning_rates,
      "learning rates of AdamW; more are added if the best of several is the smallest or the largest",
      above(0));
    f("steps", steps, "steps of a training", at_least(1));
    f("pair_nets", pair_nets, "those of --nets that have --pair_seeds at their best learning rate", known);
    f("pair_seeds", pair_seeds, "runs of --pair_nets; --seeds where that is more", at_least(0));
    f("deep_nets", deep_nets, "nets of the second comparison, with many blocks; empty: none", or_none());
    f("deep_layers", deep_layers, "its blocks", at_least(1));
    f("deep_learning_rates", deep_learning_rates, "its learning rates", above(0));
    f("deep_steps", deep_steps, "its steps", at_least(1));
    f("warmup_nets", warmup_nets, "nets of the second comparison that are trained with warm-up as well",
      or_none());
    f("deep_warmup_iters", deep_warmup_iters, "steps of linear warm-up of --warmup_nets; 0: none",
      at_least(0));
    TinyConfig::fields(f);
  }
};

// A trial for each net and rate, or at the rate that follows the net's name ("ngpt@1e-2"), else like `like`.
void add_trials(std::vector<TrialRuns>& trials, const char* flag, const std::vector<std::string>& nets,
                const Trial& like, const std::vector<double>& all_rates) {
  for (const std::string& word : nets) {
    const size_t at = word.find('@');
    Trial trial = like;
    set_net(trial, word.substr(0, at));
    if (trial.norm == "ngpt") trial.norm = "";
    check(trial.net() == "ngpt" || std::ranges::count(net_names(), trial.net()) == 1,
          "--{}: wanted ngpt, or placement.norm such as pre.rmsnorm or rezero.none, got '{}'{}", flag, word,
          own_norm);
    std::vector<double> rates = all_rates;
    if (at != std::string::npos) set_value(&rates, above(0), word.substr(at + 1), fmt::format("--{}", flag));
    for (const double rate : rates) {
      trial.learning_rate = rate;
      for (const TrialRuns& other : trials)
        check(other.trial.size != trial.size || other.trial.net() != trial.net() ||
                  other.trial.learning_rate != rate,
              "--{}: {} is there twice, with size {} and learning rate {}", flag, trial.net(), trial.size,
              rate);
      trials.push_back({.trial = trial, .outcomes = {}});
    }
  }
}

// Defaults that the given settings make impossible give way; a sentence for each.
std::vector<std::string> give_way(Config& c, const std::set<std::string>& given) {
  GivingWay way(given);
  if (!way.given("deep_layers") && c.deep_layers == c.n_layer)
    way.change("deep_layers", c.deep_layers, 2 * c.n_layer, "n_layer", c.n_layer);
  if (!way.given("deep_warmup_iters") && c.deep_warmup_iters > c.deep_steps)
    way.change("deep_warmup_iters", c.deep_warmup_iters, c.deep_steps * 3 / 10, "deep_steps", c.deep_steps);
  fit_kv_heads(c.n_kv_head, c.n_head, way);
  return way.said;
}

// Checks all settings, so that a slip shows before the first hour.
NormResults all_trials(const Config& config) {
  check(config.deep_nets.empty() || config.deep_layers != config.n_layer,
        "--deep_layers: wanted another number than --n_layer's {}", config.n_layer);
  check(config.deep_nets.empty() || config.deep_warmup_iters <= config.deep_steps,
        "--deep_warmup_iters: wanted 0 to deep_steps ({}), got {}", config.deep_steps,
        config.deep_warmup_iters);
  NormResults results{};
  const auto trial = [&](int64_t width, int64_t layers, int64_t steps) {
    return Trial{.size = fmt::format("{}x{}", width, layers),
                 .width = width,
                 .layers = layers,
                 .steps = steps,
                 .warmup = config.warmup_iters};
  };
  for (const int64_t width : config.widths)
    add_trials(results.trials, "nets", config.nets, trial(width, config.n_layer, config.steps),
               config.learning_rates);
  Trial deep = trial(config.widths.front(), config.deep_layers, config.deep_steps);
  add_trials(results.trials, "deep_nets", config.deep_nets, deep, config.deep_learning_rates);
  if (config.deep_warmup_iters > 0 && !config.deep_nets.empty()) {
    deep.size += fmt::format(".warmup_{}", config.deep_warmup_iters);
    deep.warmup = config.deep_warmup_iters;
    add_trials(results.trials, "warmup_nets", config.warmup_nets, deep, config.deep_learning_rates);
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

// dyt_equal and dyt_sqrtd are one function before training, but for rounding, some 1e-7 of a loss near 3.
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

// One net from one seed. Bit-identical on any number of threads, whatever else runs.
TrialOutcome train(const Config& config, const TinyText& text, const Trial& trial, int64_t seed) {
  const LmConfig training = training_of(config, trial);
  const Rng rng(static_cast<uint64_t>(seed));
  const std::unique_ptr<Module> made =
      model_of(config.model(training, text.vocab_size()), trial, rng.split("model"));
  Module& model = *made;
  auto* const ngpt = dynamic_cast<NGPT*>(&model);
  AdamW optimizer(decay_matrices_only(model), adam_w_options(training));
  const Schedule schedule = schedule_of(training);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const auto loss_on = [&](const TokenDataset& data, const char* stream) {
    const double loss = mean_loss(model, data, config.eval_iters, config.batch_size, Rng(0).split(stream));
    return std::isfinite(loss) ? loss : infinity;
  };

  TrialOutcome outcome{.parameters = parameter_count(model),
                       .start_loss = loss_on(text.validation, "validation"),
                       .tuning_loss = infinity,
                       .val_loss = infinity,
                       .end = unknown_stream(trial.layers)};
  for (int64_t step = 0; step < trial.steps; ++step) {
    Probe probe;
    std::optional<Watch> watching;
    if (step == 0 || step + 1 == trial.steps) watching.emplace(model, probe);
    const Batch batch = text.train.random_batch(config.batch_size, rng.split("batch").split(step));
    const Gradients gradients = gradients_of(model, batch, rng.split("dropout").split(step));
    if (step == 0) outcome.start = stream_of(probe);
    if (!gradients.finite()) return outcome;
    outcome.losses.push_back(gradients.loss);
    if (step + 1 == trial.steps) outcome.end = stream_of(probe);
    optimizer.set_lr(schedule(step));
    optimizer.step(clipping(gradients.norm, training));
    if (ngpt != nullptr) normalize_weights(*ngpt);
  }
  outcome.tuning_loss = loss_on(text.tuning, "tuning");
  outcome.val_loss = loss_on(text.validation, "validation");
  if (ngpt != nullptr)
    outcome.lengths =
        length_errors(*ngpt, text.validation.random_batch(config.batch_size, Rng(0).split("lengths")).x);
  return outcome;
}

void train_all(Run& run, const Config& config, const TinyText& text, NormResults& results) {
  const auto train_one = [&](const Trial& trial, int64_t seed) { return train(config, text, trial, seed); };
  const auto each_seed = [&](const TrialRuns&) { return config.seeds; };
  Grid grid(run);
  try_trials(grid, run, results, train_one);
  while (add_rates_beyond_edges(results)) try_trials(grid, run, results, train_one);
  train_trials(grid, run, results, train_one, each_seed);
  // A pointer of best() stays valid: no more trials are added.
  std::vector<const TrialRuns*> pairs;
  for (const std::string& size : results.sizes())
    for (const std::string& net : config.pair_nets)
      if (const TrialRuns* best = results.best(size, net);
          best != nullptr && best->trial.layers == config.n_layer)
        pairs.push_back(best);
  train_trials(grid, run, results, train_one, [&](const TrialRuns& runs) {
    return std::ranges::find(pairs, &runs) != pairs.end() ? config.pair_seeds : 0;
  });
  grid.finish();
}

void study(Run& run, const Config& config) {
  NormResults results = all_trials(config);
  const TinyText text(config.corpus, config.block_size);
  results.unigram_loss = text.unigram_loss();
  text.corpus.announce(run);
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
  return run_program(
      {.name = "lm_norms",
       .about = "Which norm, before or after the branch, trains a small language model best?",
       .example = "lm_norms --nets pre.layernorm,pre.rmsnorm --seeds 5",
       .page = "studies/lm_norms/README.md",
       .trained =
           {{.of = ".start_loss"},
            {.of = ".parameters"},
            {.of = ".start."},
            {.of = "x{deep_layers}.",
             .en = "{deep_layers} blocks of width {widths}, {deep_steps} steps on {corpus}, rates "
                   "{deep_learning_rates}",
             .zh =
                 "{deep_layers} 块、宽 {widths}，在{corpus}上训练 {deep_steps} 步，学习率 {deep_learning_rates}"},
            {.en = "{n_layer} blocks of width {widths}, {steps} steps on {corpus}, rate from "
                   "{learning_rates}",
             .zh = "{n_layer} 块、宽 {widths}，在{corpus}上训练 {steps} 步，学习率取自 {learning_rates}"}},
       .presets =
           {{"quick", "eleven nets of 4 blocks at one learning rate; pre against post in 16 blocks"},
            {"full", "four learning rates and more, more seeds at the best one",
             fmt::format(
                 "--nets {0} --pair_nets {0} --deep_nets pre.none,pre.rmsnorm,post.rmsnorm --learning_rates 1e-3,3e-3,1e-2,3e-2 "
                 "--pair_seeds 20 --deep_learning_rates 3e-3,1e-2,3e-2",
                 nets_of_full)}},
       .tiny = "--nets pre.none,pre.rmsnorm --widths 16 --n_layer 1 --learning_rates 3e-3 --steps 2 "
               "--deep_nets pre.rmsnorm --deep_layers 2 --deep_learning_rates 3e-3 --deep_steps 2 "
               "--deep_warmup_iters 1 --seeds 1 --pair_seeds 1 --eval_iters 1",
       .first_settings = {"nets", "learning_rates", "steps", "seeds", "pair_nets", "pair_seeds", "deep_nets",
                          "deep_layers", "deep_steps", "corpus"},
       .shares = true,
       .settle = [&](const std::set<std::string>& given) { return give_way(config, given); },
       .check = [&] { all_trials(config); }},
      config, argc, argv, [&](Run& run) { study(run, config); });
}
