// RNNCell: h' = tanh(N(W_ih x + b_ih + W_hh h + b_hh)), a recurrent cell (Elman 1990) with a norm N by name
// (Ba, Kiros & Hinton 2016, equation 4; N is the identity without one, and the cell is PyTorch's RNNCell).
#pragma once

#include <string>

#include "init.h"
#include "norm.h"

namespace isobar {

struct RNNCellOptions {
  std::string norm = "none";  // one of norm_names()
};

// x (N, I), h (N, H) → h' (N, H); weight_ih (H, I), weight_hh (H, H), both biases (H). All start as U(±1/√H),
// PyTorch's default. forward(x) takes sequences: x (N, T, I) → the T states (N, T, H), beginning at h = 0.
//
//   RNNCell cell(28, 64, rng, {.norm = "layernorm"});
//   Tensor h = zeros({8, 64});
//   for (int64_t t = 0; t < 28; ++t) h = cell(reshape(slice(x, 1, t, t + 1), {8, 28}), h);
struct RNNCell : Module {
  Tensor weight_ih, weight_hh, bias_ih, bias_hh;
  std::unique_ptr<Module> norm;

  RNNCell(int64_t in, int64_t hidden, const Rng& rng, const RNNCellOptions& options = {})
      : weight_ih(init::linear_default({hidden, in}, hidden, rng.split("weight_ih")).set_trainable()),
        weight_hh(init::linear_default({hidden, hidden}, hidden, rng.split("weight_hh")).set_trainable()),
        bias_ih(init::linear_default({hidden}, hidden, rng.split("bias_ih")).set_trainable()),
        bias_hh(init::linear_default({hidden}, hidden, rng.split("bias_hh")).set_trainable()),
        norm(make_norm(options.norm, {hidden})) {}

  Tensor operator()(const Tensor& x, const Tensor& h) {
    return call([this, &x, &h] { return step(x, h); });
  }
  using Module::operator();

  // The states of one sequence after the other are one result: observers see them once.
  Tensor forward(const Tensor& x) override {
    check(x.ndim() == 3, "rnn_cell: wanted sequences x (N, T, {}), got {}; for one step call cell(x, h)",
          weight_ih.size(1), x.shape());
    Tensor h = zeros({x.size(0), weight_hh.size(0)}, x.dtype());
    std::vector<Tensor> states;
    for (int64_t t = 0; t < x.size(1); ++t)
      states.push_back(h = step(reshape(slice(x, 1, t, t + 1), {x.size(0), x.size(2)}), h));
    return stack(states, 1);
  }
  void fields(Fields& f) override {
    f("weight_ih", weight_ih);
    f("weight_hh", weight_hh);
    f("bias_ih", bias_ih);
    f("bias_hh", bias_hh);
    f("norm", norm);
  }

 private:
  Tensor step(const Tensor& x, const Tensor& h) {
    return tanh((*norm)(linear(x, weight_ih, bias_ih) + linear(h, weight_hh, bias_hh)));
  }
};

}  // namespace isobar
