// What becomes of the nets: one training, a net's trainings at one depth, and at all depths.
#pragma once

#include <map>

#include "../harness/stats.h"
#include "config.h"

namespace isobar::depth {

inline constexpr double chance = 0.1;     // ten digits: what a diverged net counts as
inline constexpr double trainable = 0.5;  // training works where the median accuracy is not below this

// One training. A norm is a Frobenius norm.
struct Outcome {
  double accuracy = chance;                // share of the test images, or validation images in a sweep
  double loss = 0;                         // mean cross-entropy of the same images; NaN where diverged
  double train_loss = 0;                   // mean of the last tenth of the steps; NaN where diverged
  std::vector<double> losses;              // of each step's batch, before the step; NaN from divergence on
  std::vector<double> gradients;           // of W1 of every hidden layer, at step 0
  double first_moved = 0, last_moved = 0;  // |W1 after − before| / |before| of first and last hidden layer
  bool diverged = false;                   // the loss or a logit was not finite
};

struct Cell {
  int64_t depth = 0;
  double learning_rate = 0;
  std::vector<Outcome> runs;  // seed by seed

  template <class Quantity>
  Spread spread(Quantity quantity) const {
    return spread_over(runs, quantity);
  }
  Spread accuracy() const { return spread(&Outcome::accuracy); }
  // Gradient of the last hidden layer over that of the first; infinite where the first is zero.
  Spread gradient_last_over_first() const {
    return spread([](const Outcome& run) { return run.gradients.back() / run.gradients.front(); });
  }
  // How far training moved the first hidden layer, over the last; not finite where the last did not move.
  Spread moved_first_over_last() const {
    return spread([](const Outcome& run) { return run.first_moved / run.last_moved; });
  }
  int64_t diverged() const {
    int64_t count = 0;
    for (const Outcome& run : runs) count += run.diverged;
    return count;
  }
  bool works() const { return accuracy().median >= trainable; }
};

struct Result {
  Kind kind;
  std::vector<Cell> cells;  // by depth

  const Cell* at(int64_t depth) const {
    for (const Cell& cell : cells)
      if (cell.depth == depth) return &cell;
    return nullptr;
  }
  // The first cell that does not work; null where all do.
  const Cell* failure() const {
    for (const Cell& cell : cells)
      if (!cell.works()) return &cell;
    return nullptr;
  }
  // The greatest depth up to which every one works; 0 where the first fails.
  int64_t trains_to() const {
    int64_t depth = 0;
    for (const Cell& cell : cells) {
      if (!cell.works()) break;
      depth = cell.depth;
    }
    return depth;
  }
};

// The cell of that kind and depth, one of `results`.
inline Cell& cell_of(std::vector<Result>& results, const Kind& kind, int64_t depth) {
  for (Result& result : results)
    if (result.kind == kind)
      for (Cell& cell : result.cells)
        if (cell.depth == depth) return cell;
  throw_error("depth: no such net");
}

// --- Sweep: the search for the learning rate of one net at one depth.
//
//   Sweep sweep;
//   for (auto rates = first_rates(depth); !rates.empty(); rates = sweep.next(constant_loss))
//     for (const double rate : rates) sweep.losses[rate] = …;      // the validation loss of a training
//   sweep.best()

// The rates that may be tried, each about 3 times the one before.
inline constexpr double ladder[] = {1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3, 1};
// A net has learned where its loss is this much below the loss of a constant classifier, in nats. That of one
// that has not is about 0.005 to either side, as digits are not equally frequent in both parts.
inline constexpr double learned = 0.1;

// Three neighbours on the ladder, around 3e-3 · min(1, √(8/depth)): deep nets want smaller rates.
std::vector<double> first_rates(int64_t depth);

struct Sweep {
  std::map<double, double> losses;  // by rate, neighbours on the ladder; infinite where the training diverged

  // The rate of lowest loss, the lowest rate of several. Throws Error where none was tried.
  double best() const;
  // The rates to try next. Where the best is the lowest or highest that was tried, the one beyond; where no
  // rate lets the net learn, one on either side. None where the ladder ends.
  std::vector<double> next(double constant_loss) const;
  // True where the best rate is the first or last of the ladder, so that a better one may lie beyond.
  bool at_edge() const;
};

}  // namespace isobar::depth
