#include "a11.h"

// CRMSNorm: y = x / √((Σ x² + (Σ x)²) / (C + 1) + 1e-5) · weight, sums over a row. (Jiang et al. 2023)
struct CRMSNorm : isobar::Module {
  Tensor weight;

  explicit CRMSNorm([[maybe_unused]] const Shape& width) : weight(ones(width).set_trainable()) {}

  Tensor forward(const Tensor& x) override {
    const Tensor squares = sum(square(x), {-1}, true) + square(sum(x, {-1}, true));
    return x * rsqrt(squares / (weight.numel() + 1.0) + 1e-5) * weight;
  }
  void fields(isobar::Fields& f) override { f("weight", weight); }
};

std::string chosen() { return "crmsnorm"; }

std::unique_ptr<isobar::Module> make_layer(const Shape& width) { return std::make_unique<CRMSNorm>(width); }
