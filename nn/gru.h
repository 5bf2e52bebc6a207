// GRU: one layer of gated recurrent units over time (Cho et al. 2014), with the parameters of PyTorch's
// nn.GRU(…, batch_first=True).
//
//   r, z, n of x: split(W_ih x_t + b_ih)       r, z, n of h: split(W_hh h + b_hh)
//   r = sigmoid(r_x + r_h)       z = sigmoid(z_x + z_h)       n = tanh(n_x + r · n_h)
//   h ← (1 − z) · n + z · h
#pragma once

#include <array>

#include "recurrent.h"

namespace isobar {

struct GRUOptions {
  bool bias = true;
};

// x (N, T, I) → the states h of all times (N, T, H), beginning at h = 0. weight_ih_l0 (3H, I), weight_hh_l0 (3H, H),
// both biases (3H): all start as U(±1/√H), PyTorch's default.
//
//   GRU gru(28, 64, rng.split("gru"));
//   const auto [y, h] = gru(x, h0);             // the states (N, T, H), and the last one (N, H)
struct GRU : RecurrentLayer {
  GRU(int64_t in, int64_t hidden, const Rng& rng, GRUOptions options = {})
      : RecurrentLayer(3, in, hidden, rng, options.bias) {}

  // The states (N, T, H) that begin at h (N, H), and the last one.
  std::array<Tensor, 2> operator()(const Tensor& x, const Tensor& h) {
    return call([this, &x, &h] { return run(x, h); });
  }
  using Module::operator();

  Tensor forward(const Tensor& x) override {
    check_input("gru", x);
    return run(x, zeros({x.size(0), hidden()}, x.dtype()))[0];
  }

 private:
  std::array<Tensor, 2> run(const Tensor& x, Tensor h) const {
    check_input("gru", x);
    const Shape wanted{x.size(0), hidden()};
    check(h.shape() == wanted, "gru: wanted h of {} for x {}, got {}", wanted, x.shape(), h.shape());
    const Tensor from_x = linear(x, weight_ih_l0, bias_ih_l0);  // of all times at once
    std::vector<Tensor> states;
    for (int64_t t = 0; t < x.size(1); ++t) {
      const Tensor of_x = select(from_x, 1, t), of_h = linear(h, weight_hh_l0, bias_hh_l0);
      const Tensor r = sigmoid(gate(of_x, 0) + gate(of_h, 0)), z = sigmoid(gate(of_x, 1) + gate(of_h, 1));
      const Tensor n = tanh(gate(of_x, 2) + r * gate(of_h, 2));
      states.push_back(h = (1 - z) * n + z * h);
    }
    return {stack(states, 1), h};
  }
};

}  // namespace isobar
