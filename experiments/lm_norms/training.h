// How trials are trained: side by side, and over more learning rates where the best is at an edge.
#pragma once

#include "results.h"

namespace isobar {

// Trains each trial from run.seed(), run.seed() + 1, … until it has as many outcomes as `seeds_of` wants;
// those that it has stay. `train` gives the outcome of one trial and seed.
void train_trials(Run& run, NormResults& results,
                  const std::function<TrialOutcome(const Trial&, int64_t seed)>& train,
                  const std::function<int64_t(const TrialRuns&)>& seeds_of);

// Adds, beside the others of its net, a trial at the next learning rate (rate_beyond) for every net with
// several rates whose best one is at the edge of them; where every rate diverged, at the next lower one.
// Train the trials, and call it again until it adds none. Returns whether it added one.
bool add_rates_beyond_edges(NormResults& results);

// --- Learning rates beyond the edge of a grid: a sweep ends when its best rate has a worse one on each side.

// The rate to try next, where the best of `rates` is the least or the greatest of them: the next of 1e-5,
// 3e-5, 1e-4, …, 0.3, 1 beyond it that is nearest to √10 times as far. Nothing where the best rate lies
// between others, where there is only one rate, or where the next one would be less than 1e-5 or more than 1.
std::optional<double> rate_beyond(std::span<const double> rates, double best);

}  // namespace isobar
