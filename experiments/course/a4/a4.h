// Three normalizations: derived, composed of ops, fused by hand, compared.
//
// This file is given and stays as it is. x is (N, C), Dtype::f64 and contiguous; weight and bias are (C);
// every row is normalized by itself. Functions return new tensors.
#pragma once

#include <isobar/autograd/ops.h>

#include "tensors.h"

// --- task 1: of the library's ops (mean, var, square, sqrt, reciprocal, +, −, ·, /). The driver records a
// tape: the gradient comes for free. The formulas: the handout's section 2 (Three norms).
Tensor layer_norm_composed(const Tensor& x, const Tensor& weight, const Tensor& bias, double eps);
Tensor rms_norm_composed(const Tensor& x, const Tensor& weight, double eps);

// --- tasks 2 to 4: fused, in loops over data<double>()
struct LayerNorm {
  Tensor y;
  Tensor mean, rstd;  // of each row (N); rstd = 1 / √(var + eps)
};
struct Gradients {
  Tensor dx, dweight, dbias;  // dbias stays undefined for RMSNorm
  // Of each row (N), for yourself: the means of dz and of dz · z. Tests look at them first, where you define
  // them.
  Tensor mean_dz = {}, mean_dz_z = {};
};
// Throws isobar::Error naming the shapes of weight and bias unless both are (C).
LayerNorm layer_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, double eps);
Gradients layer_norm_backward(const Tensor& dy, const Tensor& x, const Tensor& weight,
                              const LayerNorm& saved);

struct RmsNorm {
  Tensor y;
  Tensor rrms;  // 1 / √(mean x² + eps) of each row (N)
};
// Throws isobar::Error naming weight's shape unless it is (C).
RmsNorm rms_norm(const Tensor& x, const Tensor& weight, double eps);
Gradients rms_norm_backward(const Tensor& dy, const Tensor& x, const Tensor& weight, const RmsNorm& saved);

// y of section 2 (Three norms), third row
Tensor dyt(const Tensor& x, double alpha, const Tensor& weight, const Tensor& bias);
struct DytGradients {
  Tensor dx;
  double dalpha;
  Tensor dweight, dbias;
};
DytGradients dyt_backward(const Tensor& dy, const Tensor& x, double alpha, const Tensor& weight);

// --- task 5: what they do to a signal, with weight 1, bias 0, eps 1e-5 and alpha 0.5.
// (3, 2), a row each for LayerNorm, RMSNorm and DyT: the rms of y over the rms of x, and ‖dx‖ / ‖dy‖, over
// all elements.
Tensor compare(const Tensor& x, const Tensor& dy);
