#include "a11.h"

// Dynamic hardtanh: y = min(max(alpha x, −1), 1) · weight + bias. (Zhu et al. 2025)
struct DyHardtanh : isobar::Module {
  Tensor weight, bias, alpha;

  explicit DyHardtanh([[maybe_unused]] const Shape& width)
      : weight(ones(width).set_trainable()),
        bias(zeros(width).set_trainable()),
        alpha(isobar::full({1}, 0.5).set_trainable()) {}

  Tensor forward(const Tensor& x) override { return clamp(alpha * x, -1, 1) * weight + bias; }
  void fields(isobar::Fields& f) override {
    f("weight", weight);
    f("bias", bias);
    f("alpha", alpha);
  }
};

std::string chosen() { return "dyhardtanh"; }

std::unique_ptr<isobar::Module> make_layer(const Shape& width) { return std::make_unique<DyHardtanh>(width); }
