#include "a11.h"

#include <map>

// A layer of these parameters; their first values and the formula stand below.
struct Formula : isobar::Module {
  std::map<std::string, Tensor> p;

  explicit Formula(const Shape& width);
  Tensor forward(const Tensor& x) override;
  void fields(isobar::Fields& f) override {
    for (auto& [name, parameter] : p) f(name, parameter);
  }
};

std::unique_ptr<isobar::Module> make_layer(const Shape& width) {
  auto layer = std::make_unique<Formula>(width);
  for (auto& [name, parameter] : layer->p) parameter.set_trainable();
  return layer;
}
