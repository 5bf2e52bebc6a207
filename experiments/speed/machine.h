// Machine: whether other programs disturbed the timing. A reference loop of fixed arithmetic runs on every
// thread between the timed steps. On an idle machine its turns are equal, and its threads compute throughout.
//
//   Machine machine;
//   for (…) { rounds.round(); machine.turn(); }
//   const Disturbance seen = machine.disturbance(quotients);
//   if (seen.busy()) …
#pragma once

#include <vector>

namespace isobar {
class Run;
}

namespace isobar::speed {

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
  // One turn of the reference loop, five to ten milliseconds: longer than a time slice of the scheduler, so
  // that a program that wants the same core gets it meanwhile.
  void turn();
  // `groups`: quotients of times, each with a value per group of rounds. At least one turn, and one quotient.
  Disturbance disturbance(const std::vector<std::vector<double>>& groups) const;

 private:
  std::vector<double> seconds_, lost_;  // by turn
};

// Keys "machine.{busy, lost_share, disturbance, disagreement, load, threads}", and a line that says so.
// load is the system's 1-minute load average, which counts this program too and decides nothing.
void publish_machine(Run& run, const Disturbance& disturbance);

}  // namespace isobar::speed
