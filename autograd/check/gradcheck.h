// Gradcheck: the tape's gradients against finite differences, for authors of ops and layers.
//
//   Tensor x = Rng(1).normal({3, 5}, 0, 1, Dtype::f64);
//   auto report = gradcheck([](const std::vector<Tensor>& in) { return tanh(in[0]); }, {x}, {.order = 2});
//   check(report.max_relative_error <= 1e-6, "{}", report.text);
//
// It checks the number F(x) = Σ dy · f(x) with a random dy, in f64. For a plain sum the gradient of a softmax
// or a LayerNorm is zero, and a wrong one would pass.
#pragma once

#include <functional>

#include "../../core/tensor.h"

namespace isobar {

// A differentiable function of several tensors. It is called many times and must return the same result for
// the same inputs: a dropout in it needs a fixed Rng.
using TensorFunction = std::function<Tensor(const std::vector<Tensor>&)>;

// Options of gradcheck().
struct GradcheckOptions {
  // 2 also checks the gradient of u · (dF/dx), u random, by the inputs and by dy. It runs on a higher-order
  // tape, while the differences are taken of the gradients of a plain one: fused and composed forms of an op
  // check each other.
  int order = 1;
  // Inputs with at most this many elements are checked element by element, larger ones along `directions`
  // random directions with entries ±1.
  int64_t element_limit = 64;
  int directions = 4;
  // The seed of dy, u and the directions.
  uint64_t seed = 1;
};

// The largest error that gradcheck() found, and its position.
struct GradcheckReport {
  // The largest |analytic − numeric| / max(|analytic|, |numeric|, 10⁻³ · size, 10⁻⁴ · values). `size` is the
  // largest |gradient| of that input (for a direction: its Euclidean norm), `values` the Euclidean norm of
  // dy · f(x), elementwise. The floors are there because differences of f64 numbers carry an absolute error,
  // about 4·10⁻¹¹ · values: a gradient far smaller than its neighbours, or than the values it changes, cannot
  // be asked for six digits. NaN and infinity in either derivative count as an infinite error.
  double max_relative_error = 0;
  // Where: the order (1 or 2), the position of the input (for order 2 the one after the last is dy), the
  // element in row-major order or −1 for a random direction, and the two derivatives.
  int order = 0;
  size_t input = 0;
  int64_t element = -1;
  double analytic = 0;
  double numeric = 0;
  // The report as one line.
  std::string text;
};

// Compares the gradients of f with finite differences. Inputs of integer dtype are not differentiated; the
// others must be f64. Throws Error if they are not, or if none of the inputs is f64.
GradcheckReport gradcheck(const TensorFunction& f, const std::vector<Tensor>& inputs,
                          const GradcheckOptions& options = {});

}  // namespace isobar
