// The signal study: what becomes of signal and gradient in a deep net at its initial weights? Predict,
// measure, judge.
//
// This file is given and stays as it is. The net: h₀ = x (B, C), z_l = h_{l−1} W_lᵀ + b_l, h_l = relu(z_l), l
// = 1 … L, all layers C wide. Weights and biases are independent draws of mean 0; x has independent entries
// of mean 0 and variance 1. The loss is Σ dy · h_L with a random dy of variance 1. Tensors hold doubles
// (Dtype::f64).
#pragma once

#include <cmath>

#include <isobar/autograd/autograd.h>
#include <isobar/core/rng.h>

#include "tensors.h"

using isobar::normal_quantile;  // (p): the number that a standard normal value stays below with probability p

enum class Init { torch_default, he, xavier, lecun };
struct Variances {
  double weight, bias;
};

// Given: the number that Student's t with this many degrees of freedom (1 or more) stays below with
// probability p, 1/2 ≤ p < 1. By bisection; the probability is the closed form of Abramowitz & Stegun 26.7.3
// and 26.7.4.
inline double student_quantile(double p, int64_t degrees) {
  const auto below = [degrees](double t) {
    const double angle = std::atan(t / std::sqrt(degrees)), square = std::pow(std::cos(angle), 2);
    const bool odd = degrees % 2 == 1;
    double term = odd ? std::cos(angle) : 1, sum = degrees == 1 ? 0 : term;
    for (int64_t k = odd ? 3 : 2; k <= degrees - 2; k += 2) sum += term *= square * (k - 1) / k;
    return 0.5 + (odd ? (angle + std::sin(angle) * sum) / std::acos(-1.0) : std::sin(angle) * sum / 2);
  };
  double low = 0, high = 1;
  while (below(high) < p) high *= 2;
  for (int i = 0; i < 100; ++i) (below((low + high) / 2) < p ? low : high) = (low + high) / 2;
  return low;
}

// --- task 1: of square layers. torch_default: weights and biases U(±1/√C); the others without biases: He
// normal (gain √2), Xavier and LeCun as in a3 and the literature.
Variances variances_of(Init init, int64_t width);

// --- task 2: for wide layers. (L): the std of h_l over all its elements, about its own mean.
Tensor predict_std(int64_t depth, int64_t width, const Variances& variances);
// The std that h_l comes to for large l, whatever the input. Throws isobar::Error when C · Var w / 2 ≥ 1:
// there is none.
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

// --- task 5: a blog printed one number a layer (L), we measured S ≥ 2 seeds (S, L), all above 0. (L, 2): the
// verdict of each layer, and printed / our median (of an even S the mean of the middle two).
//
// Could the printed number be one more of our seeds? With m and s the mean and the sample standard deviation
// (divisor S − 1) of the logarithms, one more seed lies in e^(m ± h), h = t s √(1 + 1/S), t =
// student_quantile(1 − α/2, S − 1), with probability 1 − α: Student's prediction interval. The L layers share
// an error rate of 1 %: α = 0.01 / L. The interval is then widened by `rounding` at both ends.
//   0    refuted: the number lies outside, or is not finite
//   1    confirmed: it lies inside, and the seeds are enough: t √(1 + 1/S) is at most twice what it is for
//        infinitely many, normal_quantile(1 − α/2)
//   0.5  too few seeds: it lies inside, but with so few seeds nearly everything would
// Throws isobar::Error naming both shapes when they do not fit or S < 2.
Tensor judge(const Tensor& printed, const Tensor& measured, double rounding);
