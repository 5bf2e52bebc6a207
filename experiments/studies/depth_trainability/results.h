// What becomes of the nets: one training, a net's trainings at one depth, and at all depths; the search for
// learning rates; and what the study writes and says of all.
#pragma once

#include "../../nets/digits/config.h"
#include "../../nets/digits/digits.h"
#include "../../run/grid.h"
#include "../../run/sweep.h"

namespace isobar::depth {

inline constexpr double chance = 0.1;     // ten digits: what a diverged net counts as
inline constexpr double trainable = 0.5;  // training works where the median accuracy is not below this

// One training. Norms are Frobenius norms.
struct Outcome {
  double accuracy = chance;                // share of the test images, or validation images in a sweep
  double loss = 0;                         // mean cross-entropy of the same images; NaN where diverged
  double train_loss = 0;                   // mean of the last tenth of the steps; NaN where diverged
  std::vector<double> losses;              // of each step's batch, before the step; NaN from divergence on
  std::vector<double> gradients;           // of W1 of every hidden layer, at step 0
  double first_moved = 0, last_moved = 0;  // |W1 after − before| / |before| of first and last hidden layer
  bool diverged = false;                   // the loss or a logit was not finite

  void values(RowFields& f) {
    f("accuracy", accuracy), f("loss", loss), f("train_loss", train_loss), f("diverged", diverged);
    f("first_moved", first_moved), f("last_moved", last_moved);
    f("losses", losses), f("gradients", gradients);
  }
};

struct Cell {
  int64_t depth = 0;
  double learning_rate = 0;
  std::vector<Outcome> runs;  // seed by seed

  Spread accuracy() const { return spread_over(runs, &Outcome::accuracy); }
  // Of the last hidden layer over that of the first; infinite where the first is zero.
  Spread gradient_last_over_first() const {
    return spread_over(runs, [](const Outcome& o) { return o.gradients.back() / o.gradients.front(); });
  }
  int64_t diverged() const { return std::ranges::count(runs, true, &Outcome::diverged); }
  bool works() const { return accuracy().median >= trainable; }
};

struct Result {
  Kind kind;
  std::vector<Cell> cells;  // by depth

  // Null where there is none; and the first cell that does not work.
  const Cell* at(int64_t depth) const {
    const auto found = std::ranges::find(cells, depth, &Cell::depth);
    return found != cells.end() ? &*found : nullptr;
  }
  const Cell* failure() const {
    const auto found = std::ranges::find(cells, false, &Cell::works);
    return found != cells.end() ? &*found : nullptr;
  }
  // The greatest depth up to which every one works; 0 where the first fails.
  int64_t trains_to() const {
    const auto end = std::ranges::find(cells, false, &Cell::works);
    return end == cells.begin() ? 0 : std::prev(end)->depth;
  }
};

// --- What the study writes and says.

// Square weight matrices among the hidden layers: two in a block.
int64_t matrices(const Kind& kind, int64_t depth);
// Mean over the last tenth of the steps, at least one.
double late_loss(const std::vector<double>& losses);

void publish_images(Run& run, const Digits& digits);
// Under "sweeps" of the summary, and as rows of rate and validation loss in /series/<kind>/depth<D>/sweep.
void publish_sweep(Run& run, const Kind& kind, int64_t depth, const Sweep& sweep);
// The runs of one net at one depth: /series/<kind>/depth<D>/{loss, gradient, accuracy}, a row per seed.
void record(Run& run, const Kind& kind, const Cell& cell);

// depth.csv, a row per run.
Csv& open_csv(Run& run);
// One kind of net, at all depths: its rows and measured values. <kind>.fails_at is infinite where all work.
void publish(Run& run, Csv& csv, const Config& config, const Result& result);
// Accuracy against depth, a curve for each kind.
void plot_accuracies(Run& run, const std::vector<Result>& results);

void print_question(Run& run, const Config& config, const Digits& digits, const std::vector<Kind>& kinds);
// One net at one depth.
void print_line(Run& run, const Kind& kind, const Cell& cell);
// The table of accuracies, and a sentence, which the summary has too, for each claim that these bear on.
void print_results(Run& run, const Config& config, const std::vector<Result>& results);

// What must hold: Fixup and ReZero start as the identity, so at step 0 their loss is the same at every depth
// and W1 has no gradient; without a norm the gradient of a plain chain falls as its closed form says.
void expect_identities(Run& run, const Config& config, const std::vector<Result>& results);

}  // namespace isobar::depth
