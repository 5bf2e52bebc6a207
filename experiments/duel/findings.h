// Findings: what a duel found out about both sides.
#pragma once

#include "../run/sweep.h"
#include "decision.h"
#include "likeness.h"
#include "profile.h"

namespace isobar::duel {

// Why one is better, by a measurement: what it says, and whether it accounts for the difference.
struct Reason {
  std::string name;  // "learning_rate"
  bool explains;
  Phrase text;
};

struct Side {
  Contestant contestant;
  Sweep sweep = {};  // tuning losses, and those of larger rates, up to where it does not learn
  double rate = 0;   // the best one
  double largest_stable_rate = NAN;
  double gain = NAN;  // of a norm before training: rms of y over that of standard normal x; NaN without one
  std::vector<Trained> trained = {};  // of the pairs
  Checked check = {};
  Deep deep = {};

  const std::string& label() const { return contestant.label; }
  std::vector<double> val_losses() const { return values_of(trained, &Trained::val_loss); }
};

struct Findings {
  Side a, b;
  double distance = 0;  // of untrained nets
  Likeness likeness = Likeness::different;
  Decision decision = {Outcome::undecided, {-claims::infinity, claims::infinity}};
  double blind_loss = 0;
  std::vector<Reason> reasons = {};
  double share = whole_rate;  // of the error rate

  // A's loss minus B's, pair by pair.
  std::vector<double> differences() const { return pairwise(a.val_losses(), b.val_losses(), std::minus()); }
  double mean_difference() const { return spread_of(differences()).linear.mean; }
  // The one with the larger loss, and the other.
  const Side& loser() const { return mean_difference() > 0 ? a : b; }
  const Side& winner() const { return mean_difference() > 0 ? b : a; }
};

// "0.118", "+0.118", "[-0.010, +0.020]".
inline std::string nats(double value) { return fmt::format("{:.3f}", value); }
inline std::string signed_nats(double value) { return fmt::format("{:+.3f}", value); }
inline std::string nats(const Range& range) {
  return fmt::format("[{:+.3f}, {:+.3f}]", range.low, range.high);
}

// A net has learned where it is a tenth of a nat below the loss of the best guess that does not look.
inline bool has_learned(double loss, double blind_loss) { return loss < blind_loss - learned_by; }

// Of each side, over the pairs: the steps until the mean loss of twenty batches was that with which the worse
// of the pair ended; infinite where never.
std::pair<Spread, Spread> steps_to_loss(const Findings& found);

}  // namespace isobar::duel
