// What an op gives at its edges: values, and slopes on a tape of either kind.
#pragma once

#include "../../autograd/check/gradcheck.h"
#include "../../autograd/tape.h"
#include "../same_tensors.h"
#include "../small_tensors.h"

namespace isobar {

using In = const std::vector<Tensor>&;

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// The value, and the gradient of its sum by each input, on a tape of either kind.
inline void check_op(const TensorFunction& f, const std::vector<Doubles>& inputs, const Doubles& wanted,
                     const std::vector<Doubles>& slopes) {
  for (const bool higher_order : {false, true}) {
    CAPTURE(higher_order);
    std::vector<Tensor> x;
    for (const Doubles& values : inputs) x.push_back(row(values).set_trainable());
    Tape tape({.higher_order = higher_order});
    const Tensor y = f(x);
    check_values(y, wanted, 1e-14);
    const std::vector<Tensor> dx = tape.gradient(y, x, ones(y.shape(), y.dtype()));
    for (size_t i = 0; i < x.size(); ++i) {
      CAPTURE(i);
      check_values(dx[i], slopes[i], 1e-14);
    }
  }
}

// Runs a check for f32 and f64: they use different vector code.
inline void for_both_dtypes(const std::function<void(Dtype)>& body) {
  for (Dtype dtype : {Dtype::f32, Dtype::f64}) {
    CAPTURE(name_of(dtype));
    body(dtype);
  }
}

}  // namespace isobar
