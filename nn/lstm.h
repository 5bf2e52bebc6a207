// LSTM: one layer of long short-term memory over time (Hochreiter & Schmidhuber 1997, with the forget gate of Gers et
// al. 2000), with the parameters of PyTorch's nn.LSTM(…, batch_first=True).
//
//   i, f, g, o = split(W_ih x_t + b_ih + W_hh h + b_hh)
//   c ← sigmoid(f) · c + sigmoid(i) · tanh(g)
//   h ← sigmoid(o) · tanh(c)
#pragma once

#include <array>

#include "init.h"
#include "module.h"

namespace isobar {

struct LSTMOptions {
  bool bias = true;
};

// x (N, T, I) → the states h of all times (N, T, H), beginning at h = c = 0. weight_ih_l0 (4H, I), weight_hh_l0 (4H, H),
// both biases (4H): all start as U(±1/√H), PyTorch's default.
//
//   LSTM lstm(28, 64, rng.split("lstm"));
//   const auto [y, h, c] = lstm(x, h0, c0);     // the states (N, T, H), and the last h and c (N, H)
struct LSTM : Module {
  Tensor weight_ih_l0, weight_hh_l0, bias_ih_l0, bias_hh_l0;

  LSTM(int64_t in, int64_t hidden, const Rng& rng, LSTMOptions options = {})
      : weight_ih_l0(
            init::linear_default({4 * hidden, in}, hidden, rng.split("weight_ih_l0")).set_trainable()),
        weight_hh_l0(
            init::linear_default({4 * hidden, hidden}, hidden, rng.split("weight_hh_l0")).set_trainable()) {
    if (!options.bias) return;
    bias_ih_l0 = init::linear_default({4 * hidden}, hidden, rng.split("bias_ih_l0")).set_trainable();
    bias_hh_l0 = init::linear_default({4 * hidden}, hidden, rng.split("bias_hh_l0")).set_trainable();
  }

  // The states (N, T, H) that begin at h and c (N, H), and the last h and c.
  std::array<Tensor, 3> operator()(const Tensor& x, const Tensor& h, const Tensor& c) {
    return call([this, &x, &h, &c] { return run(x, h, c); });
  }
  using Module::operator();

  Tensor forward(const Tensor& x) override {
    check_input(x);
    const Tensor zero = zeros({x.size(0), weight_hh_l0.size(1)}, x.dtype());
    return run(x, zero, zero)[0];
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
          "lstm: wanted sequences x (N, T, {}) of at least one time, got {}", weight_ih_l0.size(1),
          x.shape());
  }
  std::array<Tensor, 3> run(const Tensor& x, Tensor h, Tensor c) const {
    check_input(x);
    const int64_t hidden = weight_hh_l0.size(1);
    const Shape wanted{x.size(0), hidden};
    check(h.shape() == wanted && c.shape() == wanted, "lstm: wanted h and c of {} for x {}, got {} and {}",
          wanted, x.shape(), h.shape(), c.shape());
    const Tensor from_x = linear(x, weight_ih_l0, bias_ih_l0);  // of all times at once
    std::vector<Tensor> states;
    for (int64_t t = 0; t < x.size(1); ++t) {
      const Tensor gates = select(from_x, 1, t) + linear(h, weight_hh_l0, bias_hh_l0);
      const auto gate = [&gates, hidden](int64_t which) {
        return slice(gates, 1, which * hidden, (which + 1) * hidden);
      };
      c = sigmoid(gate(1)) * c + sigmoid(gate(0)) * tanh(gate(2));
      states.push_back(h = sigmoid(gate(3)) * tanh(c));
    }
    return {stack(states, 1), h, c};
  }
};

}  // namespace isobar
