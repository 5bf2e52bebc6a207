// Timing by rounds: in each round every step has its turn: a slow moment of the machine hits all alike.
#pragma once

#include "run.h"

namespace isobar::speed {

using Step = std::function<void()>;
using Now = std::function<double()>;  // seconds since some instant
double steady_seconds();

class Rounds {
 public:
  // A turn repeats its step in short batches for about `turn_seconds`; how often is measured here.
  Rounds(std::vector<Step> steps, double turn_seconds, Now now = steady_seconds);
  // One turn for every step, in order.
  void round();
  // Seconds of one step, by step and round: those of the fastest batch of the turn. A batch lasts 50 µs or
  // one step, less than a time slice of the scheduler, so that most batches run without an interruption.
  const std::vector<std::vector<double>>& seconds() const { return seconds_; }
  // The time of step a over that of step b, each of the best round of a group.
  std::vector<double> best_quotients(size_t a, size_t b) const;

 private:
  struct Turn {
    Step step;
    int64_t batches, repeats;  // steps of a batch
  };
  double seconds_of(const Step& step, int64_t repeats) const;

  Now now_;
  std::vector<Turn> turns_;
  std::vector<std::vector<double>> seconds_;
};

// The rounds in `group_count` groups, one after the other, and the least seconds of each group: where they
// differ, other programs took some. Throws Error for fewer rounds than groups.
constexpr int64_t group_count = 5;
std::vector<double> best_of_groups(const std::vector<double>& seconds);

// a = b + s · c (McCalpin's STREAM triad) over three arrays of `count` floats, with plain stores: 12 bytes an
// element, the measure for what memory delivers.
Step triad_step(int64_t count);

// --- Machine: whether others disturbed the timing. A reference loop of fixed arithmetic runs on every thread
// between the timed steps. On an idle machine its turns are equal, and its threads compute throughout.

// All three are robust: a single pause of the machine changes none of them, nor a best quotient.
struct Disturbance {
  double lost_share;  // of the threads' time in a turn of the loop, in which they did not compute: the median
  double spread;      // of the turns' seconds: (upper quartile − least) / median
  double disagreement;  // of quotients of times between groups of rounds: the median of (max − min) / median

  // On two idle cores four runs of --quick, on one and two threads, gave at most 0.010, 0.042 and 0.032.
  // Beside two endless loops two threads lost 0.50, and the turns of one had a spread of 0.95.
  static constexpr double most_lost = 0.1, most_spread = 0.3, most_disagreement = 0.15;
  bool busy() const {
    return !(lost_share <= most_lost && spread <= most_spread && disagreement <= most_disagreement);
  }
};

class Machine {
 public:
  // One turn of the reference loop, five to ten milliseconds: longer than a time slice of the scheduler.
  void turn();
  // `groups`: quotients of times, each with a value per group of rounds. At least one turn, and one quotient.
  Disturbance disturbance(const std::vector<std::vector<double>>& groups) const;

 private:
  std::vector<double> seconds_, lost_;  // by turn
};

// Measures "machine.…", and says so. machine.load is the system's 1-minute load average, which counts this
// program too and decides nothing.
void publish_machine(Run& run, const Disturbance& disturbance);

// "1.03 [1.01, 1.10]": median, least and greatest.
std::string range_text(const Spread& spread, int digits);

}  // namespace isobar::speed
