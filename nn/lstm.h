// LSTM: one layer of long short-term memory over time (Hochreiter & Schmidhuber 1997, with the forget gate of Gers et
// al. 2000), with the parameters of PyTorch's nn.LSTM(…, batch_first=True).
//
//   i, f, g, o = split(W_ih x_t + b_ih + W_hh h + b_hh)
//   c ← sigmoid(f) · c + sigmoid(i) · tanh(g)
//   h ← sigmoid(o) · tanh(c)
#pragma once

#include <array>

#include "recurrent.h"

namespace isobar {

struct LSTMOptions {
  bool bias = true;
};

// x (N, T, I) → the states h of all times (N, T, H), beginning at h = c = 0. weight_ih_l0 (4H, I), weight_hh_l0 (4H, H),
// both biases (4H): all start as U(±1/√H), PyTorch's default.
//
//   LSTM lstm(28, 64, rng.split("lstm"));
//   const auto [y, h, c] = lstm(x, h0, c0);     // the states (N, T, H), and the last h and c (N, H)
struct LSTM : RecurrentLayer {
  LSTM(int64_t in, int64_t hidden, const Rng& rng, LSTMOptions options = {})
      : RecurrentLayer(4, in, hidden, rng, options.bias) {}

  // The states (N, T, H) that begin at h and c (N, H), and the last h and c.
  std::array<Tensor, 3> operator()(const Tensor& x, const Tensor& h, const Tensor& c) {
    return call([this, &x, &h, &c] { return run(x, h, c); });
  }
  using Module::operator();

  Tensor forward(const Tensor& x) override {
    check_input("lstm", x);
    const Tensor zero = zeros({x.size(0), hidden()}, x.dtype());
    return run(x, zero, zero)[0];
  }

 private:
  std::array<Tensor, 3> run(const Tensor& x, Tensor h, Tensor c) const {
    check_input("lstm", x);
    const Shape wanted{x.size(0), hidden()};
    check(h.shape() == wanted && c.shape() == wanted, "lstm: wanted h and c of {} for x {}, got {} and {}",
          wanted, x.shape(), h.shape(), c.shape());
    const Tensor from_x = linear(x, weight_ih_l0, bias_ih_l0);  // of all times at once
    std::vector<Tensor> states;
    for (int64_t t = 0; t < x.size(1); ++t) {
      const Tensor gates = select(from_x, 1, t) + linear(h, weight_hh_l0, bias_hh_l0);
      c = sigmoid(gate(gates, 1)) * c + sigmoid(gate(gates, 0)) * tanh(gate(gates, 2));
      states.push_back(h = sigmoid(gate(gates, 3)) * tanh(c));
    }
    return {stack(states, 1), h, c};
  }
};

}  // namespace isobar
