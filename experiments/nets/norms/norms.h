// Norms that several studies compare and the library does not have by name.
//
//   const bool registered = register_layernorm_bias() && register_hardtanh();   // then make_norm knows them
//
// layernorm_bias is LayerNorm with the bias of its paper: isobar's language models leave it out by default.
#pragma once

#include "../../../nn/dyt.h"
#include "../../../nn/layer_norm.h"
#include "../../../nn/norm.h"

namespace isobar {

// DyT with straight pieces in place of tanh, y = clamp(alpha x, −1, 1) · weight + bias. alpha [1] is learned as DyT's
// and starts at 0.5, weight [C] at 1, bias [C], if any, at 0. The HardTanh of Verma 2026 has no alpha.
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

inline bool register_hardtanh() {
  return register_norm("hardtanh", [](const Shape& shape, const NormOptions& options) {
    return std::make_unique<HardTanh>(shape, options.bias);
  });
}

inline bool register_layernorm_bias() {
  return register_norm("layernorm_bias", [](const Shape& shape, const NormOptions& options) {
    return std::make_unique<LayerNorm>(shape, LayerNormOptions{.eps = options.eps, .bias = true});
  });
}

}  // namespace isobar
