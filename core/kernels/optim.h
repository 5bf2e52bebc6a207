// One step of gradient descent on one tensor: w the weights, dw their gradient, n the number of elements.
// Every kernel reads and writes each array once. Coefficients are computed in double and rounded to the
// element type, as PyTorch does.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "../parallel.h"

namespace isobar::kernels {

inline constexpr int64_t optim_grain = 1 << 14;  // elements in one chunk

struct SgdStep {
  double lr, momentum, weight_decay;
  bool nesterov;
};

// With d = dw + weight_decay · w:   m ← momentum · m + d,   w ← w − lr · m,
// or, as Nesterov,                  w ← w − lr · (d + momentum · m).   (Sutskever et al. 2013)
// m null means momentum 0.
template <class T>
void sgd(int64_t n, const T* dw, T* w, T* m, const SgdStep& step) {
  const T lr = static_cast<T>(step.lr), momentum = static_cast<T>(step.momentum);
  const T decay = static_cast<T>(step.weight_decay);
  const bool nesterov = step.nesterov;
  parallel_for(n, optim_grain, [=](int64_t begin, int64_t end) {
    if (m == nullptr) {
      for (int64_t i = begin; i < end; ++i) w[i] -= lr * (dw[i] + decay * w[i]);
    } else {
      for (int64_t i = begin; i < end; ++i) {
        const T d = dw[i] + decay * w[i];
        const T sum = momentum * m[i] + d;
        m[i] = sum;
        w[i] -= lr * (nesterov ? d + momentum * sum : sum);
      }
    }
  });
}

struct AdamStep {
  double lr, beta1, beta2, eps;
  double l2;      // λ of an L2 penalty: its gradient λ · w is added to dw (Adam)
  double shrink;  // factor on w before the step: 1 − lr · weight decay (AdamW)
  int64_t count;  // number of this step, from 1
};

// With d = dw + l2 · w:   m ← β₁ m + (1 − β₁) d,   v ← β₂ v + (1 − β₂) d²,
// w ← shrink · w − lr / (1 − β₁ᵗ) · m / (√v / √(1 − β₂ᵗ) + eps)
// (Kingma & Ba 2015, algorithm 1; Loshchilov & Hutter 2019, algorithm 2.)
template <class T>
void adam(int64_t n, const T* dw, T* w, T* m, T* v, const AdamStep& step) {
  const double t = static_cast<double>(step.count);
  const T beta1 = static_cast<T>(step.beta1), rest1 = static_cast<T>(1 - step.beta1);
  const T beta2 = static_cast<T>(step.beta2), rest2 = static_cast<T>(1 - step.beta2);
  const T rate = static_cast<T>(step.lr / (1 - std::pow(step.beta1, t)));
  const T root = static_cast<T>(std::sqrt(1 - std::pow(step.beta2, t)));
  const T eps = static_cast<T>(step.eps), l2 = static_cast<T>(step.l2), shrink = static_cast<T>(step.shrink);
  parallel_for(n, optim_grain, [=](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const T d = dw[i] + l2 * w[i];
      const T first = beta1 * m[i] + rest1 * d;
      const T second = beta2 * v[i] + rest2 * d * d;
      m[i] = first;
      v[i] = second;
      w[i] = shrink * w[i] - rate * first / (std::sqrt(second) / root + eps);
    }
  });
}

// x ← factor · x
template <class T>
void scale(int64_t n, double factor, T* x) {
  const T f = static_cast<T>(factor);
  parallel_for(n, optim_grain, [=](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) x[i] *= f;
  });
}

// Σ x² in double: eight running sums per chunk, then the chunks in order, so that the bits depend on n alone.
template <class T>
double sum_of_squares(int64_t n, const T* x) {
  constexpr int64_t lanes = 8;
  std::vector<double> sums(chunk_count(n, optim_grain));
  parallel_for(n, optim_grain, [&](int64_t begin, int64_t end) {
    std::array<double, lanes> lane{};
    int64_t i = begin;
    for (; i + lanes <= end; i += lanes)
      for (int64_t j = 0; j < lanes; ++j) lane[j] += static_cast<double>(x[i + j]) * x[i + j];
    double sum = 0;
    for (; i < end; ++i) sum += static_cast<double>(x[i]) * x[i];
    for (double part : lane) sum += part;
    sums[begin / optim_grain] = sum;
  });
  double total = 0;
  for (double sum : sums) total += sum;
  return total;
}

}  // namespace isobar::kernels
