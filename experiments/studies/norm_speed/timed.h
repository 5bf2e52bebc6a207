// Timed: one shape in one mode, where every variant has its turn in each round; and quotients of its times.
#pragma once

#include "../../../core/rng.h"
#include "../../run/clock.h"
#include "variants.h"

namespace isobar::speed {

struct Size {
  int64_t rows, columns;
};

struct Mode {
  const char* name;
  bool backward;
};
constexpr Mode modes[] = {{"forward", false}, {"forward_backward", true}};

// The quotients a / b of times that are published.
using Pair = std::pair<const char*, const char*>;
extern const std::span<const Pair> ratios;

class Timed {
 public:
  Timed(const Size& size, const Mode& mode, double turn_seconds, const Rng& rng);
  void round() { rounds_.round(); }

  const Mode& mode() const { return mode_; }
  std::string shape() const { return fmt::format("{}x{}", size_.rows, size_.columns); }
  const Size& size() const { return size_; }
  double array_bytes() const { return 4.0 * static_cast<double>(size_.rows * size_.columns); }
  // Seconds by round.
  const std::vector<double>& of(const std::string& variant) const;
  const std::vector<double>& triad() const { return rounds_.seconds().back(); }
  // The triad's time / the variant's, per byte, by round: the share of the memory's speed.
  std::vector<double> triad_share(const Variant& variant) const;
  // a / b by round, and a / b of the best round of each group.
  std::vector<double> quotients(const Pair& pair) const;
  std::vector<double> best_quotients(const Pair& pair) const;

 private:
  Size size_;
  Mode mode_;
  Rounds rounds_;
};

// Times under "timing" and in speed.csv, by round in run.h5; keys "<mode>.<shape>.<variant>.triad_share".
void publish_times(Run& run, const Timed& timed, Csv& csv);
// Keys "<mode>.<shape>.<a>_over_<b>", a value per round, and "….best", a value per group of rounds. Theory:
// the quotient of passes, where arrays are too large for a core's own caches.
void publish_ratios(Run& run, const Timed& timed);

void print_times(Run& run, std::span<const Timed> all);
void print_ratios(Run& run, std::span<const Timed> all, const Mode& mode);

}  // namespace isobar::speed
