// What the norm comparison says of its trials: figures by net and by pair of nets, tables, series.
#pragma once

#include <string>
#include <vector>

#include "../harness/run.h"
#include "trial.h"

namespace isobar {

// A trial over its seeds, in the order of the seeds.
struct TrialRuns {
  Trial trial;
  std::vector<TrialOutcome> outcomes;

  std::vector<double> val_losses() const;
  // Whether every seed ends at 0.95 of the loss of the letters' frequencies or less: a net whose blocks died
  // still learns those, which is far below the loss that it began with.
  bool stable(double unigram_loss) const;
};

// All trials. Keys begin with the size and a dot, for all sizes but the first.
struct NormResults {
  std::vector<TrialRuns> trials;
  double unigram_loss;

  std::vector<std::string> sizes() const;
  std::vector<std::string> nets(const std::string& size) const;
  std::vector<const TrialRuns*> rates(const std::string& size, const std::string& net) const;
  // At the learning rate with the lowest median among those at which all losses are finite; null where there
  // is no such net or rate.
  const TrialRuns* best(const std::string& size, const std::string& net) const;
  std::string prefix(const std::string& size) const;
};

// Losses, learning rates and streams of every net.
void measure_nets(Run& run, const NormResults& results);
// val loss of one net minus another's, seed by seed, each at its best learning rate; LayerNorm's against
// RMSNorm's beside the range that the seeds of one net cover.
void measure_pairs(Run& run, const NormResults& results);
// runs.csv, the series of run.h5, speed and memory.
void record_trials(Run& run, const NormResults& results, int64_t first_seed);
void print_trials(Run& run, const NormResults& results);

}  // namespace isobar
