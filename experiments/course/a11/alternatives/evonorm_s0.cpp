#include "a11.h"

// EvoNorm-S0, one group: y = x sigmoid(v x) / √(var x + 1e-5) · weight + bias, the variance of a row. (Liu et
// al. 2020)
struct EvoNorm : isobar::Module {
  Tensor weight, bias, v;

  explicit EvoNorm([[maybe_unused]] const Shape& width)
      : weight(ones(width).set_trainable()),
        bias(zeros(width).set_trainable()),
        v(ones(width).set_trainable()) {}

  Tensor forward(const Tensor& x) override {
    const Tensor centred = x - mean(x, {-1}, true);
    return x * sigmoid(v * x) * rsqrt(mean(square(centred), {-1}, true) + 1e-5) * weight + bias;
  }
  void fields(isobar::Fields& f) override {
    f("weight", weight);
    f("bias", bias);
    f("v", v);
  }
};

std::string chosen() { return "evonorm_s0"; }

std::unique_ptr<isobar::Module> make_layer(const Shape& width) { return std::make_unique<EvoNorm>(width); }
