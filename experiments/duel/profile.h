// Profile: what is known of a contestant beside its losses. All of it takes some seconds.
#pragma once

#include <array>

#include "../run/clock.h"
#include "contestant.h"

namespace isobar::duel {

// --- What check_layer says of the norm, on x (2, 5, 7).

struct Checked {
  bool right;          // all checks passed
  bool looks_ahead;    // y at one time depends on later ones, as with batch statistics: a language model then
                       // sees what it is to predict
  std::string line;    // "ISRU on x [2, 5, 7]: right, 20 checks"
  std::string report;  // all lines
};
Checked check_norm(const Contestant& contestant);

// --- What deep nets make of signal and gradient with this norm: the plain chain of decay_study, Linear +
// norm + ReLU, before training. Its weights are He's, with which neither grows nor falls in a wide net
// without a norm: what is seen is the norm's doing. They are 64 wide, as a duel's small nets are: in a net
// of C channels a norm takes a share of 1 / C of the squared gradient in each layer, and chance moves its
// logarithm by layers / C (nets/decay/theory.h). Twice as wide a net loses its gradient in twice as many layers.

// A layer whose gradient is a thousandth of another's moves in a thousand steps as far as that one in one: no
// rate trains both. What multiplies the gradient of its weights is the signal, for which the same holds.
inline constexpr double dead = 1e-3;

struct Depth {
  int64_t layers;
  double signal;    // std of the last layer's output, over the first one's
  double gradient;  // norm of the gradient of the first layer's weights, over the last one's
};
struct Deep {
  std::array<Depth, 3> depths;  // 8, 100 and 1000 layers
  // How many layers above the first one, or below the last one, it is below `dead` or above 1 / dead; 0:
  // within 1000 layers it is not.
  int64_t signal_dies, gradient_dies;
};
// Medians over three seeds from this one on.
Deep deep_nets(const Contestant& contestant, int64_t seed);

// --- What it costs, beside another: both take turns in one process, so that what else runs slows both. Times
// and bytes differ from run to run. Nothing else may run in this process meanwhile.

// A step of training, each time that it is called; it keeps its net.
using StepMaker = std::function<speed::Step(const Contestant& contestant)>;
// One of them: forward, back, and AdamW's step.
speed::Step training_step(std::shared_ptr<Module> net, std::function<Tensor(Module& net)> loss);

struct Costs {
  // A's time over B's, of five groups of rounds: the norm alone, forward and back on x (512, 64), and a
  // step of training.
  Spread norm, step;
  double seconds_a = 0, seconds_b = 0;  // of a step of training, the best one
  // Of tensors at the peak of a step, its net and the optimizer's state among them.
  double bytes_a = 0, bytes_b = 0;
  bool busy = false;  // other programs took so much time that the ratios say little
};
// `turn_seconds`: for so long each repeats its step when it is its turn, 15 times.
Costs costs_of(const Contestant& a, const Contestant& b, const StepMaker& make_step,
               double turn_seconds = 2e-2);

}  // namespace isobar::duel
