// How far two tensors are apart, and whether they have the same bits.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "../core/raw.h"

namespace isobar {

// The largest difference between two tensors, relative to the largest value of b, or to `least`, for
// gradients may cancel to nothing. NaN where either holds one.
inline double difference(const Tensor& a, const Tensor& b, double least = 1e-3) {
  REQUIRE(a.shape() == b.shape());
  const std::vector<double> p = a.to_vector<double>(), q = b.to_vector<double>();
  double largest = least, apart = 0;
  for (size_t i = 0; i < p.size(); ++i) {
    if (std::isnan(p[i]) || std::isnan(q[i])) return std::numeric_limits<double>::quiet_NaN();
    largest = std::max(largest, std::abs(q[i]));
    apart = std::max(apart, std::abs(p[i] - q[i]));
  }
  return apart / largest;
}

// Each element equals the wanted one, NaN equals NaN, to a relative tolerance (absolute below 1).
inline void check_values(const Tensor& got, const std::vector<double>& wanted, double tolerance = 0) {
  const std::vector<double> values = got.to_vector<double>();
  REQUIRE(values.size() == wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (values[i] == wanted[i] || (std::isnan(values[i]) && std::isnan(wanted[i]))) continue;
    INFO("element ", i);
    CHECK(values[i] == doctest::Approx(wanted[i]).epsilon(tolerance));
  }
}

// The same shape, dtype and bits, whatever the strides.
inline bool same_bits(const Tensor& a, const Tensor& b) {
  if (a.shape() != b.shape() || a.dtype() != b.dtype()) return false;
  const Tensor p = raw::contiguous(a), q = raw::contiguous(b);
  return dispatch_any(a.dtype(), [&]<class T>() {
    return p.numel() == 0 || std::memcmp(p.data<T>(), q.data<T>(), p.numel() * sizeof(T)) == 0;
  });
}

}  // namespace isobar
