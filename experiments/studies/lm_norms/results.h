// Trial: one model of the norm comparison, trained from one seed; how all are trained, and what comes of them.
#pragma once

#include "../../../nn/lm/ngpt.h"
#include "../../../nn/observe.h"
#include "../../lm/training/small_config.h"
#include "../../lm/watching/block_stream.h"
#include "../../lm/watching/losses.h"
#include "../../run/grid.h"

namespace isobar {

struct Trial {
  std::string size;                       // "64x4": width × blocks; "64x16.warmup_30" with its own warm-up
  std::string placement = "", norm = "";  // as LmConfig has them; or placement "ngpt" and no norm
  int64_t width, layers, steps, warmup;
  double learning_rate = 0;

  // "pre.rmsnorm", "ngpt".
  std::string net() const { return norm.empty() ? placement : placement + "." + norm; }
  Json settings(int64_t seed) const {
    return {{"size", size},
            {"net", net()},
            {"width", width},
            {"n_layer", layers},
            {"steps", steps},
            {"warmup", warmup},
            {"learning_rate", learning_rate},
            {"seed", seed}};
  }
};

// How far an nGPT's vectors are from length 1 (Loshchilov et al. 2024): the largest | |v| − 1 | over vectors v
// of n_embd numbers.
struct LengthErrors {
  double outputs;  // v: a row of the output of any block
  double weights;  // v: a row of any matrix; a column of o_proj and down_proj, whose outputs are added to h

  void values(RowFields& f) { f("lengths.outputs", outputs), f("lengths.weights", weights); }
};

// `tokens` is (B, T), as for the model, which is in evaluation meanwhile (evaluation.h).
LengthErrors length_errors(NGPT& model, const Tensor& tokens);

struct TrialOutcome {
  int64_t parameters = 0;
  double start_loss = 0;                     // over the validation batches, as val_loss
  double tuning_loss = 0;                    // over the tuning batches, by which rates are chosen
  double val_loss = 0;                       // both are infinite where a loss or gradient was
  Stream end = {};                           // at the last step; NaN where the run broke off
  Stream start = {};                         // at the first
  std::vector<double> losses = {};           // of each step's batch, up to where the run broke off
  std::optional<LengthErrors> lengths = {};  // of an nGPT that was trained to the end

  void values(RowFields& f) {
    f("parameters", parameters), f("start_loss", start_loss), f("tuning_loss", tuning_loss);
    f("val_loss", val_loss), f("losses", losses);
    start.values(f, "start"), end.values(f, "end");
    bool has_lengths = lengths.has_value();
    f("has_lengths", has_lengths);
    if (!has_lengths) return;
    if (!lengths) lengths.emplace();
    lengths->values(f);
  }
};

// The settings of its training. Throws Error for those that make no sense.
LmConfig training_of(const TinyConfig& config, const Trial& trial);
// Its net, a LanguageModel or an NGPT.
std::unique_ptr<Module> model_of(const LanguageModelConfig& config, const Trial& trial, const Rng& rng);
// A trial over its seeds, in the order of the seeds.
struct TrialRuns {
  Trial trial;
  std::vector<TrialOutcome> outcomes;
  std::vector<TrialOutcome> tried = {};  // of seeds that judge nothing; of a net with several rates

  std::vector<double> val_losses() const;
  // The loss of the letters' frequencies minus the validation loss, in nats.
  std::vector<double> gains(double unigram_loss) const;
  // Of each seed: the steps until the mean loss of twenty batches reached its target; infinite where never.
  std::vector<double> steps_to(const std::vector<double>& targets) const;
  // Whether every seed ends at 0.95 of the loss of the letters' frequencies or less: a net whose blocks died
  // still learns those, which is far below the loss that it began with.
  bool stable(double unigram_loss) const;
};

// All trials, with more seeds at a net's best rate. Keys of all sizes but the first begin with it and a dot.
struct NormResults {
  std::vector<TrialRuns> trials;
  double unigram_loss;

  std::vector<std::string> sizes() const;
  std::vector<std::string> nets(const std::string& size) const;
  std::vector<const TrialRuns*> rates(const std::string& size, const std::string& net) const;
  // Of several learning rates that with the lowest median tuning loss of the seeds that judge nothing, among those at
  // which all of these losses are finite; a single one if all of its seeds end with a finite loss. Null where there is no
  // such net or rate.
  const TrialRuns* best(const std::string& size, const std::string& net) const;
  // Of each seed that all rates have: the largest at which it learned; NaN where there is none.
  std::vector<double> largest_stable_rates(const std::string& size, const std::string& net) const;
  std::string prefix(const std::string& size) const;
};

// --- How trials are trained: side by side, and over more learning rates where the best is at an edge.

// Gives the outcome of one trial and seed.
using TrainTrial = std::function<TrialOutcome(const Trial&, int64_t seed)>;

// Trains each trial from run.seed(), run.seed() + 1, … until it has as many outcomes as `seeds_of` wants;
// those that it has stay.
void train_trials(Grid& grid, const Run& run, NormResults& results, const TrainTrial& train,
                  const std::function<int64_t(const TrialRuns&)>& seeds_of);

// Trains the trials of nets with several rates from seeds that judge nothing (run/sweep.h), unless they were tried.
void try_trials(Grid& grid, const Run& run, NormResults& results, const TrainTrial& train);

// Adds, beside the others of its net, a trial at the next learning rate (rate_beyond) for every net with
// several rates whose best one is at the edge of them; where every rate diverged, at the next lower one.
// Try the trials, and call it again until it adds none. Returns whether it added one.
bool add_rates_beyond_edges(NormResults& results);

// --- Learning rates beyond the edge of a grid: a sweep ends when its best rate has a worse one on each side.

// The rate to try next, where the best of `rates` is the least or the greatest of them: the next of 1e-5,
// 3e-5, 1e-4, …, 0.3, 1 beyond it that is nearest to √10 times as far. Nothing where the best rate lies
// between others, where there is only one rate, or where the next one would be less than 1e-5 or more than 1.
std::optional<double> rate_beyond(std::span<const double> rates, double best);

// --- What is written and said of them.

// Losses, gains, learning rates and streams of every net.
void measure_nets(Run& run, const NormResults& results);
// runs.csv, blocks.csv, the series of run.h5.
void record_trials(Run& run, const NormResults& results, int64_t first_seed);
void print_trials(Run& run, const NormResults& results);

// --- Pairs of nets of the norm comparison: the same seeds, hence the same tokens and initial weights.

// For every size with both nets, over the seeds that both have, each net at its best learning rate; `.steps`
// are those until half of what RMSNorm gains, `.perplexity_percent` is 100 (exp(difference) − 1). Prints
// LayerNorm minus RMSNorm.
void measure_pairs(Run& run, const NormResults& results);

// --- The charts of the norm comparison: losses by net, and the stream through the blocks.

// For each size, over the seeds: val loss of each net at each learning rate, beside the letters' frequencies;
// of each net at its best rate the loss over training, and the std of each block's output at the end.
void plot_trials(Run& run, const NormResults& results);

}  // namespace isobar
