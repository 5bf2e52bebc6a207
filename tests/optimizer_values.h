// Parameters of given values, values held against wanted ones, and what an optimizer lists as its state.
#pragma once

#include <doctest/doctest.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "../core/raw.h"
#include "../core/tensor.h"
#include "../optim/optim.h"

namespace isobar {

using Doubles = std::vector<double>;

inline Tensor make(const Doubles& values, Dtype dtype = Dtype::f64) {
  return raw::cast(tensor(Shape(static_cast<int64_t>(values.size())), values), dtype);
}

inline Tensor parameter(const Doubles& values, Dtype dtype = Dtype::f64) {
  return make(values, dtype).set_trainable();
}

inline void check_near(const Tensor& x, const Doubles& wanted, double tolerance) {
  const Doubles got = x.to_vector<double>();
  REQUIRE(got.size() == wanted.size());
  for (size_t i = 0; i < got.size(); ++i) {
    CAPTURE(i);
    CHECK(got[i] == doctest::Approx(wanted[i]).epsilon(tolerance));
  }
}

// What fields() lists, by name; the handles are the optimizer's own.
inline std::map<std::string, Tensor> state_of(Optimizer& optimizer) {
  struct Collect : Fields {
    std::map<std::string, Tensor> found;
    void on_buffer(std::string_view name, Tensor& tensor) override { found.emplace(name, tensor); }
  } collect;
  optimizer.fields(collect);
  return collect.found;
}

}  // namespace isobar
