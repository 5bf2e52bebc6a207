// Shift: how far the inputs and the gradients of a net's layers move in a step, for nets as net.h has
// them.
#pragma once

#include <cmath>
#include <vector>

#include "../../autograd/tape.h"
#include "net.h"

namespace isobar::motives {

// Mean and std of each unit over the rows, after each part of the net.
struct Signal {
  Tensor mean, std;
};
inline std::vector<Signal> signals_of(const Sequential& net, Tensor x) {
  std::vector<Signal> seen;
  for (const auto& part : net.parts) {
    x = (*part)(x);
    seen.push_back({mean(x, {0}), std_dev(x, std::vector<int>{0})});
  }
  return seen;
}

// √(Σ of the squares by which means and stds moved / Σ std²), the mean over the layers' parts number 0 (Linear), 1
// (norm) or 2 (ReLU, the next layer's input).
inline double distance(const std::vector<Signal>& from, const std::vector<Signal>& to, size_t part) {
  double total = 0;
  for (size_t i = part; i + 1 < from.size(); i += 3)
    total += std::sqrt(sum(square(to[i].mean - from[i].mean) + square(to[i].std - from[i].std)).item() /
                       sum(square(from[i].std)).item());
  return total / static_cast<double>(from.size() / 3);
}

// |G − G'| / |G|, where G is the gradient of a weight before a step. `of_layers`, the mean over all Linears but the
// first: G' is the one after the layers before it alone have taken the step (Santurkar et al. 2018, definition 2.1).
// `of_step`, of all weights of Linears together: G' is the one after the whole step, on the same batch: how badly a
// gradient predicts the next one (their figure 4b).
struct GradientShift {
  double of_layers, of_step;
};
// Changes `before`.
inline GradientShift gradient_shift(Sequential& before, Sequential& after, const Batch& batch) {
  const auto gradients = [&] {
    clear_gradients(parameters(before));
    Tape tape;
    tape.backward(cross_entropy(before(batch.x), batch.y));
    std::vector<Tensor> dw;
    for (size_t i = 0; i < before.parts.size(); i += 3)
      dw.push_back(clone(parameters(*before.parts[i]).front().grad()));
    return dw;
  };
  const std::vector<Tensor> dw = gradients();
  double total = 0;
  for (size_t layer = 1; layer < dw.size(); ++layer) {
    for (size_t i = 3 * layer - 3; i < 3 * layer; ++i) copy_state(*after.parts[i], *before.parts[i]);
    total += moments_of(gradients()[layer] - dw[layer]).norm / moments_of(dw[layer]).norm;
  }
  copy_state(after, before);
  const std::vector<Tensor> next = gradients();
  double moved = 0, whole = 0;
  for (size_t layer = 0; layer < dw.size(); ++layer) {
    moved += std::pow(moments_of(next[layer] - dw[layer]).norm, 2);
    whole += std::pow(moments_of(dw[layer]).norm, 2);
  }
  return {total / static_cast<double>(dw.size() - 1), std::sqrt(moved / whole)};
}

}  // namespace isobar::motives
