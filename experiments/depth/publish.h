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

// images.train, images.validation, images.test, blind.loss, blind.accuracy.
void publish_images(Run& run, const Digits& digits);
// Under "sweeps" of the summary, and as rows of rate and validation loss in /series/<kind>/depth<D>/sweep.
void publish_sweep(Run& run, const Kind& kind, int64_t depth, const Sweep& sweep);
// The runs of one net at one depth: /series/<kind>/depth<D>/{loss, gradient, accuracy}, a row per seed.
void record(Run& run, const Kind& kind, const Cell& cell);

// A row per run.
Csv& open_csv(Run& run);
// One kind of net, at all depths; a value per seed where nothing else is said:
//   <kind>.fails_at                       first depth of median accuracy below 0.5, or not finite; one value
//   <kind>.trains_to                      greatest depth before that; 0 where the first fails; one value
//   <kind>.depth<D>.accuracy, .train_loss
//   <kind>.depth<D>.learning_rate         one value
//   <kind>.depth<D>.diverged              number of runs; one value
//   <kind>.depth<D>.over_depth2           accuracy minus that of depth 2
//   <kind>.depth<D>.gradient_first, .gradient_last, .gradient_last_over_first, at step 0
//   <kind>.depth<D>.first_moved, .last_moved, .moved_first_over_last
//                                         how far training moved W1 of the first and last hidden layer,
//                                         relative to its norm
void publish(Run& run, Csv& csv, const Config& config, const Result& result);

// Accuracy against depth, a curve for each kind.
void plot_accuracies(Run& run, const std::vector<Result>& results);

// Of the gradient norm of the last hidden layer over that of the first, at step 0; NaN where unknown.
double gradient_ratio_theory(const Config& config, const Kind& kind, int64_t depth);

// --- What the study says: a line per net, the table, one sentence per claim, computed from the numbers.

void print_question(Run& run, const Config& config, const Digits& digits, const std::vector<Kind>& kinds);
// One net at one depth.
void print_line(Run& run, const Kind& kind, const Cell& cell);
// The table of accuracies, and the sentences of findings(), which the summary has too.
void print_results(Run& run, const Config& config, const std::vector<Result>& results);

// "source and claim: what was seen", for each claim that these results bear on.
std::vector<std::string> findings(const std::vector<Result>& results);

// What must hold: Fixup and ReZero start as the identity, so at step 0 their loss is the same at every depth
// and W1 has no gradient; without a norm the gradient of a plain chain falls as its closed form says.
void expect_identities(Run& run, const Config& config, const std::vector<Result>& results);

}  // namespace isobar::depth
