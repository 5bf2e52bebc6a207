// What the study measures in a stack: the signal after every layer, and every layer's gradient.
#pragma once

#include <cstdint>
#include <vector>

#include "config.h"

namespace isobar::transformer_stack {

// Of one layer in one run. The stream x is (B, T, C); statistics are taken over all its elements and summed in
// double, stds are sample stds (n − 1).
struct LayerSignal {
  double std, mean;
  double along_one;     // root mean square over the rows of cos(row, (1, …, 1))
  double token_cosine;  // Σ x_s · x_t over pairs s ≠ t of positions of a sequence, over their mean square
  double gradient_norm;  // of all parameters of the layer together
};

// One run: builds the stack of this seed, sends B sequences of normal numbers up, and a random cotangent (normal
// numbers, which the loss multiplies the output with) down. Input and cotangent depend on seed and sizes alone.
std::vector<LayerSignal> measure(const Config& config, const Kind& kind, int64_t depth, int64_t seed);

}  // namespace isobar::transformer_stack
