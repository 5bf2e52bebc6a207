// Parameters of given values, and values held against wanted ones.
#pragma once

#include <doctest/doctest.h>

#include <vector>

#include "../core/raw.h"
#include "../core/tensor.h"

namespace isobar {

using Values = std::vector<double>;

inline Tensor make(const Values& values, Dtype dtype = Dtype::f64) {
  return raw::cast(tensor(Shape(static_cast<int64_t>(values.size())), values), dtype);
}

inline Tensor parameter(const Values& values, Dtype dtype = Dtype::f64) {
  return make(values, dtype).set_trainable();
}

inline void check_near(const Tensor& x, const Values& wanted, double tolerance) {
  const Values got = x.to_vector<double>();
  REQUIRE(got.size() == wanted.size());
  for (size_t i = 0; i < got.size(); ++i) {
    CAPTURE(i);
    CHECK(got[i] == doctest::Approx(wanted[i]).epsilon(tolerance));
  }
}

}  // namespace isobar
