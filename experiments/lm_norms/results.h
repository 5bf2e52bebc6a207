// Trial: one model of the norm comparison, trained from one seed.
#pragma once

#include "../../nn/observe.h"
#include "../harness/run.h"
#include "../lm/training/small_config.h"
#include "unit_lengths.h"

namespace isobar {

struct Trial {
  std::string size;             // "64x4": width × blocks; "64x16.warmup_30" with its own warm-up
  std::string placement, norm;  // as LmConfig has them; or placement "ngpt" and no norm
  int64_t width, layers, steps, warmup;
  double learning_rate;

  // "pre.rmsnorm", "ngpt".
  std::string net() const { return norm.empty() ? placement : placement + "." + norm; }
};

// Of the output of each block: the residual stream, and the gradient that comes back to it.
struct Stream {
  std::vector<double> std, rms, gradient_norm;
};

struct TrialOutcome {
  int64_t parameters;
  double start_loss;                         // over the validation batches, as val_loss
  double tuning_loss;                        // over the tuning batches, by which rates are chosen
  double val_loss;                           // both are infinite where a loss or gradient was
  Stream end;                                // at the last step; NaN where the run broke off
  Stream start = {};                         // at the first
  std::vector<double> losses = {};           // of each step's batch, up to where the run broke off
  std::optional<LengthErrors> lengths = {};  // of an nGPT that was trained to the end
};

// The settings of its training. Throws Error for those that make no sense.
LmConfig training_of(const TinyConfig& config, const Trial& trial);
// Its net, a LanguageModel or an NGPT.
std::unique_ptr<Module> model_of(const LanguageModelConfig& config, const Trial& trial, const Rng& rng);
// What the probe saw of the blocks; and NaN for all of them.
Stream stream_of(const Probe& probe);
Stream unknown_stream(int64_t layers);

// --- The trials of the norm comparison: what is measured of nets and pairs, table, series and charts.

// Whether a net ends at 0.95 of the loss of the letters' frequencies or less: one whose blocks died still
// learns those, which is far below the loss that it began with.
bool is_stable(double val_loss, double unigram_loss);

// A trial over its seeds, in the order of the seeds.
struct TrialRuns {
  Trial trial;
  std::vector<TrialOutcome> outcomes;

  std::vector<double> val_losses() const;
  // The loss of the letters' frequencies minus the validation loss, in nats.
  std::vector<double> gains(double unigram_loss) const;
  // Of each seed: the steps until the mean loss of twenty batches reached its target; infinite where never.
  std::vector<double> steps_to(const std::vector<double>& targets) const;
  // Whether every seed is stable.
  bool stable(double unigram_loss) const;
};

// All trials, with more seeds at a net's best rate. Keys of all sizes but the first begin with it and a dot.
struct NormResults {
  std::vector<TrialRuns> trials;
  double unigram_loss;

  std::vector<std::string> sizes() const;
  std::vector<std::string> nets(const std::string& size) const;
  std::vector<const TrialRuns*> rates(const std::string& size, const std::string& net) const;
  // At the learning rate with the lowest median tuning loss among those at which all of them are finite; null
  // where there is no such net or rate.
  const TrialRuns* best(const std::string& size, const std::string& net) const;
  // Of each seed that all rates have: the largest at which it learned; NaN where there is none.
  std::vector<double> largest_stable_rates(const std::string& size, const std::string& net) const;
  std::string prefix(const std::string& size) const;
};

// Losses, gains, learning rates and streams of every net.
void measure_nets(Run& run, const NormResults& results);
// runs.csv, blocks.csv, the series of run.h5.
void record_trials(Run& run, const NormResults& results, int64_t first_seed);
void print_trials(Run& run, const NormResults& results);

// --- Pairs of nets of the norm comparison: the same seeds, hence the same tokens and initial weights.

// For every size with both nets, over the seeds that both have, each net at its best learning rate:
//   <pair>                  val loss of one minus the other's, in nats
//   <pair>.share_of_gain    the same over what pre.rmsnorm gained on the unigram loss, with the same seed
//   <pair>.perplexity_percent   100 (exp(difference) − 1), of LayerNorm and RMSNorm
// with another norm than RMSNorm, both pre or both post, the speed of learning too:
//   pre.dyt_over_rmsnorm.largest_stable_rate   where both have several rates, over the seeds of each rate
//   pre.dyt_over_rmsnorm.steps                 until half of what RMSNorm gains, each at its best rate
// and of post.rmsnorm and pre.rmsnorm at each rate that both have:
//   rmsnorm.lr_<rate>.post_minus_pre, rmsnorm.lr_<rate>.post_share_of_pre = gain(post) / gain(pre)
// Prints LayerNorm minus RMSNorm.
void measure_pairs(Run& run, const NormResults& results);

// --- The charts of the norm comparison: losses by net, and the stream through the blocks.

// For each size, over the seeds: val loss of each net at each learning rate, beside the letters' frequencies;
// of each net at its best rate the loss over training, and the std of each block's output at the end.
void plot_trials(Run& run, const NormResults& results);

}  // namespace isobar
