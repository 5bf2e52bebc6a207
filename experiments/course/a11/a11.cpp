#include "a11.h"

// PN-V: y = x / √(q + 1e-5) · weight + bias, q (C) the mean square of the batch, in evaluation a running one.
// (Shen et al. 2020)
struct PowerNorm : isobar::Module {
  Tensor weight, bias, running;

  explicit PowerNorm(const Shape& width)
      : weight(ones(width).set_trainable()), bias(zeros(width).set_trainable()), running(ones(width)) {}

  Tensor forward(const Tensor& x) override {
    if (!training()) return x * rsqrt(running + 1e-5) * weight + bias;
    const Tensor rows = reshape(x, {x.numel() / weight.numel(), weight.numel()});
    const Tensor q = mean(square(rows), {0});
    if (rows.size(0) > 0) {
      const isobar::NoTape pause;
      assign(running, 0.9 * running + 0.1 * q);
    }
    return x * rsqrt(q + 1e-5) * weight + bias;
  }
  void fields(isobar::Fields& f) override {
    f("weight", weight);
    f("bias", bias);
    f.buffer("running", running);
  }
};

// Task 1.
std::string chosen() { return "powernorm"; }

// Task 1.
std::unique_ptr<isobar::Module> make_layer([[maybe_unused]] const Shape& width) {
  return std::make_unique<PowerNorm>(width);
}
