// HardTanh: DyT with straight pieces in place of tanh, y = clamp(alpha x, −1, 1) · weight + bias. alpha [1] is learned
// as DyT's and starts at 0.5, weight [C] at 1, bias [C], if any, at 0. The HardTanh of Verma 2026 has no alpha.
#pragma once

#include "../../../nn/dyt.h"

namespace isobar::ladder {

struct HardTanh : ElementwiseNorm {
  Tensor alpha;

  HardTanh(const Shape& normalized_shape, bool with_bias)
      : ElementwiseNorm(normalized_shape, with_bias), alpha(full({1}, 0.5).set_trainable()) {}

  Tensor forward(const Tensor& x) override {
    const Tensor y = clamp(x * alpha, -1.0, 1.0) * weight;
    return bias.defined() ? y + bias : y;
  }
  void fields(Fields& f) override {
    f("alpha", alpha);
    ElementwiseNorm::fields(f);
  }
};

}  // namespace isobar::ladder
