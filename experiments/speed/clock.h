// Timing by rounds: in each round every step has its turn: a slow moment of the machine hits all alike.
//
//   Rounds rounds({first_step, second_step}, 2e-3);
//   for (int i = 0; i < 15; ++i) rounds.round();
//   const std::vector<double> best = best_of_groups(rounds.seconds()[0]);
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

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

// The rounds in `group_count` groups, one after the other, and the least seconds of each group: what is left
// when other programs take some of the rounds. Where the groups differ, the times are not to be trusted.
// Throws Error for fewer rounds than groups.
constexpr int64_t group_count = 5;
std::vector<double> best_of_groups(const std::vector<double>& seconds);

// a = b + s · c (McCalpin's STREAM triad) over three arrays of `count` floats, with plain stores: 12 bytes an
// element, the measure for what memory delivers.
Step triad_step(int64_t count);

}  // namespace isobar::speed
