// Products of random matrices, and three loops that they are compared with.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "../../core/blas.h"
#include "../../core/rng.h"

namespace isobar {

template <class T>
std::vector<T> random_numbers(int64_t n, const char* name) {
  const Rng rng = Rng(1).split(name);
  return rng.normal(Shape{n}, 0, 1, dtype_of<T>()).template to_vector<T>();
}

struct Problem {
  int64_t m, n, k;
  bool transpose_a = false, transpose_b = false, accumulate = false;
  int64_t gap = 0;  // unused elements at the end of each row
  bool bias = false;
};

// A product whose operands are held here. C starts with numbers of its own.
template <class T>
struct Product {
  explicit Product(const Problem& p) {
    const int64_t a_step = (p.transpose_a ? p.m : p.k) + p.gap, b_step = (p.transpose_b ? p.k : p.n) + p.gap;
    a = random_numbers<T>(a_step * (p.transpose_a ? p.k : p.m), "a");
    b = random_numbers<T>(b_step * (p.transpose_b ? p.n : p.k), "b");
    c = random_numbers<T>((p.n + p.gap) * p.m, "c");
    if (p.bias) bias = random_numbers<T>(p.n, "bias");
    g = {p.m, p.n, p.k, {nullptr, a_step}, {nullptr, b_step}, {nullptr, 0}, {nullptr, p.n + p.gap}};
    if (p.transpose_a) g.a = g.a.transposed();
    if (p.transpose_b) g.b = g.b.transposed();
    accumulates = p.accumulate;
    point();
  }
  void point() {
    g.a.data = a.data();
    g.b.data = b.data();
    g.c.data = c.data();
    g.start.data = bias.empty() ? nullptr : bias.data();
    if (accumulates) g.start = g.c;
  }

  Gemm<T> g;
  std::vector<T> a, b, c, bias;
  bool accumulates;
};

// sum += a b and size += |a b|, element by element. The innermost of the three loops: sanitizers would slow
// it tenfold.
__attribute__((no_sanitize("address", "undefined"))) inline void add_terms(int64_t n, double a,
                                                                           const double* b, double* sum,
                                                                           double* size) {
  for (int64_t j = 0; j < n; ++j) {
    sum[j] += a * b[j];
    size[j] += std::abs(a * b[j]);
  }
}

// Compares with three loops in double. The bound is that of any summation order: each of the k products and
// k sums rounds once, so the error is at most (k + 1) · ε · Σ |a b| (Higham 2002, section 3.1), plus the
// rounding of the start value.
template <class T>
using Compute = void (*)(const Gemm<T>&);

template <class T>
void check_against_loops(
    const Problem& p, std::type_identity_t<Compute<T>> compute = [](const Gemm<T>& g) { gemm(g); }) {
  Product<T> product(p);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (int64_t i = 0; i < p.m && !p.accumulate; ++i)  // what was there before does not matter
    std::fill_n(product.g.c.at(i, 0), p.n, static_cast<T>(nan));
  const std::vector<T> before = product.c;
  compute(product.g);
  const Gemm<T>& g = product.g;
  std::vector<double> rows(p.k * p.n);  // B with its rows contiguous
  for (int64_t l = 0; l < p.k; ++l)
    for (int64_t j = 0; j < p.n; ++j) rows[l * p.n + j] = *g.b.at(l, j);
  std::vector<double> sum(p.n), size(p.n);
  int64_t wrong = 0;
  for (int64_t i = 0; i < p.m; ++i) {
    for (int64_t j = 0; j < p.n; ++j) {
      sum[j] = p.accumulate ? before[i * g.c.row + j] : p.bias ? product.bias[j] : 0;
      size[j] = std::abs(sum[j]);
    }
    for (int64_t l = 0; l < p.k; ++l)
      add_terms(p.n, *g.a.at(i, l), rows.data() + l * p.n, sum.data(), size.data());
    const double rounding = static_cast<double>(p.k + 2) * double{std::numeric_limits<T>::epsilon()};
    for (int64_t j = 0; j < p.n; ++j)
      wrong += !(std::abs(product.c[i * g.c.row + j] - sum[j]) <= rounding * size[j]);
    for (int64_t j = p.n; j < g.c.row; ++j) wrong += product.c[i * g.c.row + j] != before[i * g.c.row + j];
  }
  INFO(p.m, " x ", p.n, " x ", p.k, ", transposed ", p.transpose_a, p.transpose_b, ", accumulate ",
       p.accumulate, ", gap ", p.gap, ", bias ", p.bias);
  CHECK(wrong == 0);
}

}  // namespace isobar
