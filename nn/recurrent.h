// RecurrentLayer: the base of LSTM and GRU. It has the parameters of one recurrent layer, by PyTorch's names.
#pragma once

#include "init.h"
#include "module.h"

namespace isobar {

// With G gates of H values each: weight_ih_l0 (G · H, I) for the input, weight_hh_l0 (G · H, H) for the
// state, and both biases (G · H), undefined where there are none. All start as U(±1/√H), PyTorch's default.
struct RecurrentLayer : Module {
  Tensor weight_ih_l0, weight_hh_l0, bias_ih_l0, bias_hh_l0;

  void fields(Fields& f) override {
    f("weight_ih_l0", weight_ih_l0);
    f("weight_hh_l0", weight_hh_l0);
    f("bias_ih_l0", bias_ih_l0);
    f("bias_hh_l0", bias_hh_l0);
  }

 protected:
  RecurrentLayer(int64_t gates, int64_t in, int64_t hidden, const Rng& rng, bool bias) {
    const auto start = [&](const char* name, const Shape& shape) {
      return init::linear_default(shape, hidden, rng.split(name)).set_trainable();
    };
    weight_ih_l0 = start("weight_ih_l0", {gates * hidden, in});
    weight_hh_l0 = start("weight_hh_l0", {gates * hidden, hidden});
    if (!bias) return;
    bias_ih_l0 = start("bias_ih_l0", {gates * hidden});
    bias_hh_l0 = start("bias_hh_l0", {gates * hidden});
  }

  int64_t hidden() const { return weight_hh_l0.size(1); }
  // Throws Error, naming the layer, unless x is (N, T, I) with T > 0.
  void check_input(const char* layer, const Tensor& x) const {
    check(x.ndim() == 3 && x.size(2) == weight_ih_l0.size(1) && x.size(1) > 0,
          "{}: wanted sequences x (N, T, {}) of at least one time, got {}", layer, weight_ih_l0.size(1),
          x.shape());
  }
  // Gate `which` of the values (N, G · H) of all gates.
  Tensor gate(const Tensor& all, int64_t which) const {
    return slice(all, 1, which * hidden(), (which + 1) * hidden());
  }
};

}  // namespace isobar
