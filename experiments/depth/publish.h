// What the study writes: measured keys, depth.csv, and the series of run.h5.
#pragma once

#include "../harness/run.h"
#include "digits.h"
#include "outcome.h"

namespace isobar::depth {

// Square weight matrices among the hidden layers: two in a block.
int64_t matrices(const Kind& kind, int64_t depth);
// Mean over the last tenth of the steps, at least one.
double late_loss(const std::vector<double>& losses);

// images.train, images.test, blind.loss, blind.accuracy.
void publish_images(Run& run, const Digits& digits);
// What the sweep at depth 8 gave, rate by rate, under "sweeps" of the summary.
void publish_sweep(Run& run, const Kind& kind, const std::vector<double>& losses, double best);

// A row per run.
Csv& open_csv(Run& run);
// One kind of net, whole:
//   <kind>.learning_rate                  of depth 8
//   <kind>.fails_at                       first depth of median accuracy below 0.5; not finite where none
//   <kind>.trains_to                      greatest depth before that; 0 where the first fails
//   <kind>.depth<D>.accuracy, .train_loss, .diverged (number of runs)
//   <kind>.depth<D>.over_depth2           accuracy minus that of depth 2, seed by seed
//   <kind>.depth<D>.gradient_first, .gradient_last, .gradient_ratio (last over first), at step 0
//   <kind>.depth<D>.moved_first, .moved_last   how far training moved W1, relative to its norm
// run.h5: /series/<kind>/depth<D>/{loss, gradient}, a row per seed, and …/accuracy, a number per seed.
void publish(Run& run, Csv& csv, const Config& config, const Result& result);

// Accuracy against depth, a curve for each kind.
void plot_accuracies(Run& run, const std::vector<Result>& results);

// Of the gradient norm of the last hidden layer over that of the first, at step 0; NaN where unknown.
double gradient_ratio_theory(const Config& config, const Kind& kind, int64_t depth);

}  // namespace isobar::depth
