// Newton-Schulz iteration: drives the singular values of a matrix towards 1.
// Inside parallel_for it runs on one thread.
//
// With G = U S Vᵀ, an odd polynomial of G acts on S alone: p(G) = U p(S) Vᵀ. The quintic
// p(s) = 3.4445 s − 4.7750 s³ + 2.0315 s⁵ (Jordan et al. 2024, "Muon: An optimizer for hidden layers in
// neural networks") is steep at 0 and does not converge: five rounds bring singular values of 0.01 … 1 to
// about 0.7 … 1.2, which serves as well as 1 and costs fewer products.
#pragma once

#include <cmath>
#include <utility>

#include "../blas.h"
#include "reduce.h"
#include "squares.h"

namespace isobar::kernels {

// The number of elements of newton_schulz's workspace.
constexpr int64_t newton_schulz_workspace(int64_t rows, int64_t cols) {
  const int64_t k = std::min(rows, cols);
  return rows * cols + 2 * k * k;
}

// y = p(x). y is (rows, cols) like x; gram and factor have k · k elements each.
template <class T>
void newton_schulz_round(int64_t rows, int64_t cols, const T* x, T* y, T* gram, T* factor) {
  constexpr T a{3.4445}, b{-4.7750}, c{2.0315};
  const int64_t k = std::min(rows, cols);
  const bool wide = rows <= cols;
  // gram = x xᵀ, or xᵀ x where that is smaller.
  const Strided<const T> in{x, cols}, turned = in.transposed();
  gemm(Gemm<T>{k, k, rows + cols - k, wide ? in : turned, wide ? turned : in, {}, {gram, k}});
  // factor = a + b gram + c gram²; y first holds b + c gram.
  for (int64_t i = 0; i < k * k; ++i) y[i] = c * gram[i];
  for (int64_t i = 0; i < k; ++i) y[i * k + i] += b;
  gemm(Gemm<T>{k, k, k, {gram, k}, {y, k}, {}, {factor, k}});
  for (int64_t i = 0; i < k; ++i) factor[i * k + i] += a;
  // y = factor x, or x factor: the polynomial of x.
  const Strided<const T> by{factor, k};
  gemm(Gemm<T>{rows, cols, k, wide ? by : in, wide ? in : by, {}, {y, cols}});
}

// Overwrites x (rows, cols), contiguous. Returns the result (rows, cols), which is in x or in the workspace.
template <class T>
T* newton_schulz(int64_t rows, int64_t cols, int64_t rounds, T* x, T* workspace) {
  assert(rows >= 0 && cols >= 0 && rounds >= 0 &&
         (rows * cols == 0 || (x != nullptr && workspace != nullptr)));
  const int64_t k = std::min(rows, cols);
  T* y = workspace;
  T* const gram = y + rows * cols;  // (k, k)
  T* const factor = gram + k * k;   // (k, k)

  // The Frobenius norm is at least the largest singular value.
  const double norm = squares(
                          rows * cols, [](int64_t n, const auto& term) { return lane_sum(n, term); },
                          [x](int64_t i) { return x[i]; })
                          .root();
  const T scale = static_cast<T>(1 / (norm + 1e-7));
  for (int64_t i = 0; i < rows * cols; ++i) x[i] *= scale;
  for (int64_t round = 0; round < rounds; ++round) {
    newton_schulz_round(rows, cols, x, y, gram, factor);
    std::swap(x, y);
  }
  return x;
}

}  // namespace isobar::kernels
