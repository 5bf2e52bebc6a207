#include "a11.h"

// FRN and TLU of one position: y = max(x / √(x² + |eps|) · weight + bias, tau). (Singh & Krishnan 2019)
struct FRN : isobar::Module {
  Tensor weight, bias, eps, tau;

  explicit FRN([[maybe_unused]] const Shape& width)
      : weight(ones(width).set_trainable()),
        bias(zeros(width).set_trainable()),
        eps(isobar::full({1}, 0.1).set_trainable()),
        tau(zeros(width).set_trainable()) {}

  Tensor forward(const Tensor& x) override {
    return maximum(x * rsqrt(square(x) + abs(eps)) * weight + bias, tau);
  }
  void fields(isobar::Fields& f) override {
    f("weight", weight);
    f("bias", bias);
    f("eps", eps);
    f("tau", tau);
  }
};

std::string chosen() { return "frn"; }

std::unique_ptr<isobar::Module> make_layer(const Shape& width) { return std::make_unique<FRN>(width); }
