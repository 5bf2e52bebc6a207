#include "a11.h"

// LayerScale: y = x · weight, which begins at 0.1. (Touvron et al. 2021)
struct LayerScale : isobar::Module {
  Tensor weight;

  explicit LayerScale([[maybe_unused]] const Shape& width) : weight(full(width, 0.1).set_trainable()) {}

  Tensor forward(const Tensor& x) override { return x * weight; }
  void fields(isobar::Fields& f) override { f("weight", weight); }
};

std::string chosen() { return "layerscale"; }

std::unique_ptr<isobar::Module> make_layer(const Shape& width) { return std::make_unique<LayerScale>(width); }
