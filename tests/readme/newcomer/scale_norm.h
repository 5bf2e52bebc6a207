// ScaleNorm: y = g x / ‖x‖₂, the norm over the last dimension, one learned g (Nguyen & Salazar 2019, section
// 2.2)
//   n = √(Σ x² + eps), h = x / n     dx = g/n (dy − h Σ dy h)     dg = Σ dy h
#pragma once

#include <isobar/autograd/tape.h>
#include <isobar/nn/module.h>

struct ScaleNorm : isobar::Module {
  isobar::Tensor g = isobar::full({1}, 2.0).set_trainable();
  double eps = 1e-5;

  isobar::Tensor forward(const isobar::Tensor& x) override {
    if (isobar::composed_wanted()) return x / length(x) * g;
    isobar::Tensor n, h, y;
    {
      const isobar::NoTape pause;
      n = length(x);
      h = x / n;
      y = h * g;
    }
    return record("scale_norm", y, {x, g}, [n, h, g = g.detach()](const isobar::Tensor& dy) {
      return std::vector{g / n * (dy - h * sum(dy * h, {-1}, true)), dy * h};
    });
  }
  void fields(isobar::Fields& f) override { f("g", g); }

 private:
  isobar::Tensor length(const isobar::Tensor& x) const { return sqrt(sum(square(x), {-1}, true) + eps); }
};
