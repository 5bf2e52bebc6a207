// The signal study: what becomes of signal and gradient in a deep net at its initial weights? Predict,
// measure, judge.
//
// This file is given and stays as it is. The net: h₀ = x (B, C), z_l = h_{l−1} W_lᵀ + b_l, h_l = relu(z_l), l
// = 1 … L, all layers C wide. Weights and biases are independent draws of mean 0; x has independent entries
// of mean 0 and variance 1. The loss is Σ dy · h_L with a random dy of variance 1. Tensors hold doubles
// (Dtype::f64).
#pragma once

#include <isobar/autograd/autograd.h>
#include <isobar/core/raw.h>
#include <isobar/core/tensor.h>

#include "todo.h"

using isobar::check;
using isobar::Dtype;
using isobar::Shape;
using isobar::Tensor;
namespace raw = isobar::raw;  // writing, and other things that no tape sees

enum class Init { torch_default, he, xavier, lecun };
struct Variances {
  double weight, bias;
};

// --- task 1: of square layers. torch_default: weights and biases U(±1/√C); the others without biases: He
// normal (gain √2), Xavier and LeCun as in a3 and the literature.
Variances variances_of(Init init, int64_t width);

// --- task 2: for wide layers. (L): the std of h_l over all its elements, about its own mean.
Tensor predict_std(int64_t depth, int64_t width, const Variances& variances);
// The std that layer follows layer to, from any input. Throws isobar::Error when C · Var w / 2 ≥ 1: there is
// none.
double plateau_std(int64_t width, const Variances& variances);

// --- task 3: for wide layers, weights counted as independent of those met on the way up. (L): ‖dL/dW_l‖,
// Frobenius.
Tensor predict_gradient_norm(int64_t depth, int64_t width, int64_t batch, const Variances& variances);

// --- task 4: one net. weights (L, C, C), biases (L, C), x and dy (B, C).
struct Signals {
  Tensor std;            // (L), of h_l, divided by the number of elements, in two passes
  Tensor gradient_norm;  // (L), ‖dL/dW_l‖
};
Signals measure(const Tensor& x, const Tensor& weights, const Tensor& biases, const Tensor& dy);

// --- task 5: a blog printed one number a layer (L), we measured S ≥ 2 seeds (S, L). (L, 2): 1 where the
// printed number is within 3 sample standard deviations (divisor S − 1) of our mean, widened by `rounding`,
// else 0; and printed / our median (of an even S the mean of the middle two). A printed number that is not
// finite is refuted. Throws isobar::Error naming both shapes when they do not fit or S < 2.
Tensor judge(const Tensor& printed, const Tensor& measured, double rounding);
