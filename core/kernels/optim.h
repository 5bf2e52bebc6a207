// One step of gradient descent on n elements in a row: w the weights, dw their gradient. One thread; every
// kernel reads and writes each array once, in a loop that compilers turn into vector instructions (the square
// root and the divisions are exact there too, so an element's bits do not depend on its position).
// Coefficients are computed in double and rounded to the element type, as PyTorch does.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <cstdint>

#include "functions.h"

namespace isobar::kernels {

struct SgdStep {
  double lr, momentum, weight_decay;
  bool nesterov;
  double factor;  // on dw
};

// With d = factor · dw + weight_decay · w:   m ← momentum · m + d,   w ← w − lr · m,
// or, as Nesterov,                           w ← w − lr · (d + momentum · m).   (Sutskever et al. 2013)
// m null means momentum 0.
template <class T>
void sgd(int64_t n, const T* dw, T* w, T* m, const SgdStep& step) {
  assert(n >= 0 && (n == 0 || (dw != nullptr && w != nullptr && dw != w)));
  const T lr = static_cast<T>(step.lr), momentum = static_cast<T>(step.momentum);
  const T decay = static_cast<T>(step.weight_decay), factor = static_cast<T>(step.factor);
  if (m == nullptr) {
    for (int64_t i = 0; i < n; ++i) w[i] -= lr * (factor * dw[i] + decay * w[i]);
    return;
  }
  for (int64_t i = 0; i < n; ++i) {
    const T d = factor * dw[i] + decay * w[i];
    const T sum = momentum * m[i] + d;
    m[i] = sum;
    w[i] -= lr * (step.nesterov ? d + momentum * sum : sum);
  }
}

struct RmsPropStep {
  double lr, alpha, eps;
  double l2;  // λ of an L2 penalty: its gradient λ · w is added to dw
  double momentum;
  double factor;  // on dw
};

// With d = factor · dw + l2 · w:   v ← α v + (1 − α) d²,   a = √v + eps,   w ← w − lr · d / a;
// with a mean gradient g:          g ← α g + (1 − α) d,    a = √(v − g²) + eps
// with a momentum b:               b ← momentum · b + d / a,   w ← w − lr · b       (Graves 2013, equations 38 to 41)
// g or b null: without it. v − g² that rounds below 0 counts as 0.
template <class T>
void rmsprop(int64_t n, const T* dw, T* w, T* v, T* g, T* b, const RmsPropStep& step) {
  assert(n >= 0 && (n == 0 || (dw != nullptr && w != nullptr && v != nullptr && dw != w)));
  const T lr = static_cast<T>(step.lr), eps = static_cast<T>(step.eps), l2 = static_cast<T>(step.l2);
  const T alpha = static_cast<T>(step.alpha), rest = static_cast<T>(1 - step.alpha);
  const T momentum = static_cast<T>(step.momentum), factor = static_cast<T>(step.factor);
  for (int64_t i = 0; i < n; ++i) {
    const T d = factor * dw[i] + l2 * w[i];
    v[i] = alpha * v[i] + rest * d * d;
    T square = v[i];
    if (g != nullptr) {
      g[i] = alpha * g[i] + rest * d;
      square = std::max(square - g[i] * g[i], T{0});
    }
    T move = d / (std::sqrt(square) + eps);
    if (b != nullptr) move = b[i] = momentum * b[i] + move;
    w[i] -= lr * move;
  }
}

struct AdamStep {
  double lr, beta1, beta2, eps;
  double l2;      // λ of an L2 penalty: its gradient λ · w is added to dw (Adam)
  double shrink;  // factor on w before the step: 1 − lr · weight decay (AdamW)
  double factor;  // on dw
  int64_t count;  // number of this step, from 1
};

// β₁ᵗ and β₂ᵗ. Parameters that step together have them in common, and small ones step faster than a power.
inline const std::array<double, 2>& powers_of(const AdamStep& step) {
  struct Last {
    double beta1 = -1, beta2 = -1;
    int64_t count = 0;
    std::array<double, 2> powers{};
  };
  static thread_local Last last;
  if (last.beta1 != step.beta1 || last.beta2 != step.beta2 || last.count != step.count) {
    const double t = static_cast<double>(step.count);
    last = {step.beta1, step.beta2, step.count, {pow(step.beta1, t), pow(step.beta2, t)}};
  }
  return last.powers;
}

// With d = factor · dw + l2 · w:   m ← β₁ m + (1 − β₁) d,   v ← β₂ v + (1 − β₂) d²,
// w ← shrink · w − lr / (1 − β₁ᵗ) · m / (√v / √(1 − β₂ᵗ) + eps)
// (Kingma & Ba 2015, algorithm 1; Loshchilov & Hutter 2019, algorithm 2.)
template <class T>
void adam(int64_t n, const T* dw, T* w, T* m, T* v, const AdamStep& step) {
  assert(n >= 0 && (n == 0 || (dw != nullptr && w != nullptr && m != nullptr && v != nullptr && dw != w)));
  assert(step.count >= 1);
  const auto [power1, power2] = powers_of(step);
  const T beta1 = static_cast<T>(step.beta1), rest1 = static_cast<T>(1 - step.beta1);
  const T beta2 = static_cast<T>(step.beta2), rest2 = static_cast<T>(1 - step.beta2);
  const T rate = static_cast<T>(step.lr / (1 - power1));
  // A factor instead of the formula's divisor, because divisions limit the loop. The results differ by half
  // an ulp.
  const T unroot = static_cast<T>(1 / std::sqrt(1 - power2));
  const T eps = static_cast<T>(step.eps), l2 = static_cast<T>(step.l2), shrink = static_cast<T>(step.shrink);
  const T factor = static_cast<T>(step.factor);
  for (int64_t i = 0; i < n; ++i) {
    const T d = factor * dw[i] + l2 * w[i];
    const T first = beta1 * m[i] + rest1 * d;
    const T second = beta2 * v[i] + rest2 * d * d;
    m[i] = first;
    v[i] = second;
    w[i] = shrink * w[i] - rate * first / (unroot * std::sqrt(second) + eps);
  }
}

}  // namespace isobar::kernels
