// GRU: one layer of gated recurrent units over time (Cho et al. 2014), with the parameters of PyTorch's
// nn.GRU(…, batch_first=True).
//
//   r, z, n of x: split(W_ih x_t + b_ih)       r, z, n of h: split(W_hh h + b_hh)
//   r = sigmoid(r_x + r_h)       z = sigmoid(z_x + z_h)       n = tanh(n_x + r · n_h)
//   h ← (1 − z) · n + z · h
#pragma once

#include <array>

#include "init.h"
#include "module.h"

namespace isobar {

struct GRUOptions {
  bool bias = true;
};

// x (N, T, I) → the states h of all times (N, T, H), beginning at h = 0. weight_ih_l0 (3H, I), weight_hh_l0 (3H, H),
// both biases (3H): all start as U(±1/√H), PyTorch's default.
//
//   GRU gru(28, 64, rng.split("gru"));
//   const auto [y, h] = gru(x, h0);             // the states (N, T, H), and the last one (N, H)
struct GRU : Module {
  Tensor weight_ih_l0, weight_hh_l0, bias_ih_l0, bias_hh_l0;

  GRU(int64_t in, int64_t hidden, const Rng& rng, GRUOptions options = {})
      : weight_ih_l0(
            init::linear_default({3 * hidden, in}, hidden, rng.split("weight_ih_l0")).set_trainable()),
        weight_hh_l0(
            init::linear_default({3 * hidden, hidden}, hidden, rng.split("weight_hh_l0")).set_trainable()) {
    if (!options.bias) return;
    bias_ih_l0 = init::linear_default({3 * hidden}, hidden, rng.split("bias_ih_l0")).set_trainable();
    bias_hh_l0 = init::linear_default({3 * hidden}, hidden, rng.split("bias_hh_l0")).set_trainable();
  }

  // The states (N, T, H) that begin at h (N, H), and the last one.
  std::array<Tensor, 2> operator()(const Tensor& x, const Tensor& h) {
    return call([this, &x, &h] { return run(x, h); });
  }
  using Module::operator();

  Tensor forward(const Tensor& x) override {
    check_input(x);
    return run(x, zeros({x.size(0), weight_hh_l0.size(1)}, x.dtype()))[0];
  }
  void fields(Fields& f) override {
    f("weight_ih_l0", weight_ih_l0);
    f("weight_hh_l0", weight_hh_l0);
    f("bias_ih_l0", bias_ih_l0);
    f("bias_hh_l0", bias_hh_l0);
  }

 private:
  void check_input(const Tensor& x) const {
    check(x.ndim() == 3 && x.size(2) == weight_ih_l0.size(1) && x.size(1) > 0,
          "gru: wanted sequences x (N, T, {}) of at least one time, got {}", weight_ih_l0.size(1), x.shape());
  }
  std::array<Tensor, 2> run(const Tensor& x, Tensor h) const {
    check_input(x);
    const int64_t hidden = weight_hh_l0.size(1);
    const Shape wanted{x.size(0), hidden};
    check(h.shape() == wanted, "gru: wanted h of {} for x {}, got {}", wanted, x.shape(), h.shape());
    const Tensor from_x = linear(x, weight_ih_l0, bias_ih_l0);  // of all times at once
    std::vector<Tensor> states;
    for (int64_t t = 0; t < x.size(1); ++t) {
      const Tensor of_x = select(from_x, 1, t), of_h = linear(h, weight_hh_l0, bias_hh_l0);
      const auto part = [hidden](const Tensor& of, int64_t which) {
        return slice(of, 1, which * hidden, (which + 1) * hidden);
      };
      const Tensor r = sigmoid(part(of_x, 0) + part(of_h, 0)), z = sigmoid(part(of_x, 1) + part(of_h, 1));
      const Tensor n = tanh(part(of_x, 2) + r * part(of_h, 2));
      states.push_back(h = (1 - z) * n + z * h);
    }
    return {stack(states, 1), h};
  }
};

}  // namespace isobar
