// The feed-forward layers of a Transformer, x (…, n_embd) → (…, n_embd):
//
//   FeedForward  y = linear2(dropout(activation(linear1(x))))     named as in nn.TransformerEncoderLayer
//   SwiGLU       y = down_proj(silu(gate_proj(x)) · up_proj(x))   Llama's (Shazeer 2020)
#pragma once

#include <memory>

#include "../activation.h"
#include "../dropout.h"
#include "../linear.h"

namespace isobar {

struct FeedForwardOptions {
  bool bias = true;
  double dropout = 0;  // after the activation
};

// `hidden` channels in between; the activation is any elementwise module.
struct FeedForward : Module {
  Linear linear1, linear2;
  std::unique_ptr<Module> activation;
  Dropout dropout;

  FeedForward(int64_t n_embd, int64_t hidden, std::unique_ptr<Module> chosen_activation, const Rng& rng,
              FeedForwardOptions options = {})
      : linear1(n_embd, hidden, rng.split("linear1"), {.bias = options.bias}),
        linear2(hidden, n_embd, rng.split("linear2"), {.bias = options.bias}),
        activation(std::move(chosen_activation)),
        dropout(options.dropout) {
    check(activation != nullptr, "feed_forward: the activation is null; wanted a module");
  }

  Tensor forward(const Tensor& x) override { return linear2(dropout((*activation)(linear1(x)))); }
  void fields(Fields& f) override {
    f("linear1", linear1);
    f("activation", activation);
    f("dropout", dropout);
    f("linear2", linear2);
  }
};

struct SwiGLUOptions {
  int64_t hidden = 0;  // 0: swiglu_hidden(n_embd)
  bool bias = false;
};

// ⌊8 n_embd / 3⌋ rounded up to a multiple of 64: three matrices then have about as many elements as the usual
// two with 4 · n_embd hidden channels.
constexpr int64_t swiglu_hidden(int64_t n_embd) { return (8 * n_embd / 3 + 63) / 64 * 64; }

struct SwiGLU : Module {
  Linear gate_proj, up_proj, down_proj;

  SwiGLU(int64_t n_embd, const Rng& rng, SwiGLUOptions options = {})
      : SwiGLU(n_embd, options.hidden > 0 ? options.hidden : swiglu_hidden(n_embd), options.bias, rng) {}

  Tensor forward(const Tensor& x) override {
    const Tensor gate = gate_proj(x);  // first, whatever the compiler: C++ leaves the order of arguments open
    return down_proj(swiglu(gate, up_proj(x)));
  }
  void fields(Fields& f) override {
    f("gate_proj", gate_proj);
    f("up_proj", up_proj);
    f("down_proj", down_proj);
  }

 private:
  SwiGLU(int64_t n_embd, int64_t hidden, bool bias, const Rng& rng)
      : gate_proj(n_embd, hidden, rng.split("gate_proj"), {.bias = bias}),
        up_proj(n_embd, hidden, rng.split("up_proj"), {.bias = bias}),
        down_proj(hidden, n_embd, rng.split("down_proj"), {.bias = bias}) {}
};

}  // namespace isobar
