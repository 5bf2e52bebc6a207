#include "a11.h"

// ScaleNorm: y = g x / √(Σ x² + 1e-5), the sum over a row. (Nguyen & Salazar 2019)
struct ScaleNorm : isobar::Module {
  Tensor g;

  explicit ScaleNorm([[maybe_unused]] const Shape& width)
      : g(isobar::full({1}, std::sqrt(static_cast<double>(width.numel()))).set_trainable()) {}

  Tensor forward(const Tensor& x) override { return x * g * rsqrt(sum(square(x), {-1}, true) + 1e-5); }
  void fields(isobar::Fields& f) override { f("g", g); }
};

std::string chosen() { return "scalenorm"; }

std::unique_ptr<isobar::Module> make_layer(const Shape& width) { return std::make_unique<ScaleNorm>(width); }
