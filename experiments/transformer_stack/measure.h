// What the study measures in a stack: the signal after every layer, and every layer's gradient.
#pragma once

#include "config.h"

namespace isobar::transformer_stack {

// Of one layer in one run. The stream x is (B, T, C); statistics are taken over all its elements and summed
// in double, stds are sample stds (n − 1).
struct LayerSignal {
  double std, mean;
  double along_one;     // root mean square over the rows of cos(row, (1, …, 1))
  double token_cosine;  // Σ x_s · x_t over pairs s ≠ t of positions of a sequence, over their mean square
  double gradient_norm;  // of all parameters of the layer together
};

// One run: builds the stack of this seed, sends B sequences of normal numbers up, and a random cotangent
// (normal numbers, which the loss multiplies the output with) down. Both depend on seed and sizes alone.
std::vector<LayerSignal> measure(const Config& config, const Kind& kind, int64_t depth, int64_t seed);

// --- The closed form of the stream's std, for initial weights and an input of independent normal numbers.
//
// Followed are q, the mean square of the stream, and r, the mean product of two positions of a sequence; the
// mean over nets is 0, so std = √q. A branch reads u = q and v = r, or after a norm u = 1, v = r/q.
//   attention   in_proj is Xavier uniform on (3C, C): variance 1/(2C), so values have mean square u/2, and
//               logits q·k/√D differ by a variance s² = (u/2)² (1 − v/u). The softmax's weights over T positions
//               sum to 1, their squares to about e^(s²)/T (normal logits, s² ≤ 1). out_proj, U(±1/√C), takes 1/3
//               of it: own position a = (v + (u − v) e^(s²)/T) / 6, two positions a' = (v + (u − v)/T) / 6.
//   feed-forward   p = u/3 + 1/3C before the ReLU, p/2 after it (two positions: p/2 κ(ρ), see decay/theory.h);
//               linear2 takes 1/3 and adds its bias, 1/3F: f = p/6 + 1/3F, f' = p κ(ρ)/6 + 1/3F.
// Dropout multiplies a position's own mean squares, a and p/6, by 1/(1 − 0.1), and leaves the products alone.
// Source 001's layer adds: q ← q + a + f, r ← r + a' + f', with branches that do not grow. So
//   std after L layers = √(1 + c L),
// where c grows from 1/14 (T = 16, independent positions) to 1/6 + 1/18 (equal positions): the positions
// become alike. A norm at the end of each branch (peri) makes a = f = 1: std √(1 + 2L). Without norms u grows
// with the stream; from the layer where s² > 1 on there is no closed form (NaN).

struct LayerTheory {
  double std, token_cosine;
};

// One per layer.
std::vector<LayerTheory> theory_of(const Config& config, const Kind& kind, int64_t depth);

}  // namespace isobar::transformer_stack
