// Sweep: the search for the learning rate of one net at one depth.
//
//   Sweep sweep;
//   for (auto rates = first_rates(depth); !rates.empty(); rates = sweep.next(constant_loss))
//     for (const double rate : rates) sweep.losses[rate] = …;      // the validation loss of a training
//   sweep.best()
#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace isobar::depth {

// The rates that may be tried, each about 3 times the one before.
inline constexpr double ladder[] = {1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3, 1};
// A net has learned where its loss is this much below the loss of a constant classifier, in nats. That of
// one that has not is about 0.005 to either side: the digits of the images that it was trained on are not
// quite as frequent as those of the others.
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
