// The trials of the norm comparison: what is measured of each net, the table, the series. Pairs of nets:
// norm_pairs.h.
#pragma once

#include <string>
#include <vector>

#include "../harness/run.h"
#include "norm_trial.h"

namespace isobar {

// Whether a net ends at 0.95 of the loss of the letters' frequencies or less: one whose blocks died still learns those,
// which is far below the loss that it began with.
bool is_stable(double val_loss, double unigram_loss);

// A trial over its seeds, in the order of the seeds.
struct TrialRuns {
  Trial trial;
  std::vector<TrialOutcome> outcomes;

  std::vector<double> val_losses() const;
  // The loss of the letters' frequencies minus the validation loss, in nats.
  std::vector<double> gains(double unigram_loss) const;
  // Of each seed: after how many steps the mean loss of the last twenty batches was at most its target; infinite where it
  // never was.
  std::vector<double> steps_to(const std::vector<double>& targets) const;
  // Whether every seed is stable.
  bool stable(double unigram_loss) const;
};

// All trials. At the best rate a net may have more seeds than at others. Keys begin with the size and a dot,
// for all sizes but the first.
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

}  // namespace isobar
