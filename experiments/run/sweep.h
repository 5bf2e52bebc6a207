// Sweep: how a study chooses a net's learning rate. Its trainings have seeds of their own, which judge nothing: the error
// rate of a verdict covers the seeds that are judged, and not a choice that was made on their values.
//
//   Sweep sweep;                                        // of one net; several go on side by side
//   for (std::vector<double> rates = first_rates(depth); !rates.empty(); rates = sweep.next(constant_loss))
//     for (const double rate : rates) sweep.losses[rate] = validation_loss(rate, sweep_seeds + i);
//   const double rate = sweep.best();                   // for the seeds from run.seed() on
#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace isobar {

// The first seed of sweeps, or what is added to the seeds of a run: nobody measures with a million seeds.
inline constexpr int64_t sweep_seeds = 1'000'000;

// The rates that may be tried, each about 3 times the one before.
inline constexpr double swept_rates[] = {1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3, 1};
// A net has learned where its loss is this much below the loss of a constant classifier, in nats. That of one
// that has not is about 0.005 to either side, as digits are not equally frequent in both parts.
inline constexpr double learned_by = 0.1;

// Three neighbours of swept_rates, around 3e-3 · min(1, √(8/depth)): deep nets want smaller rates.
std::vector<double> first_rates(int64_t depth);

struct Sweep {
  std::map<double, double>
      losses;  // by rate, neighbours in swept_rates; infinite where the training diverged

  // The rate of lowest loss, the lowest rate of several. Throws Error where none was tried.
  double best() const;
  // The rates to try next. Where the best is the lowest or highest that was tried, the one beyond; where no
  // rate lets the net learn, one on either side. None where swept_rates end.
  std::vector<double> next(double constant_loss) const;
  // True where the best rate is the first or last of swept_rates, so that a better one may lie beyond.
  bool at_edge() const;
};

}  // namespace isobar
