// SwiGLU: y = down_proj(silu(gate_proj(x)) · up_proj(x)), Llama's feed-forward layer (Shazeer 2020).
#pragma once

#include "../linear.h"

namespace isobar {

struct SwiGLUOptions {
  int64_t hidden = 0;  // 0: swiglu_hidden(n_embd)
  bool bias = false;
};

// ⌊8 n_embd / 3⌋ rounded up to a multiple of 64: three matrices then have about as many elements as the usual
// two with 4 · n_embd hidden channels.
constexpr int64_t swiglu_hidden(int64_t n_embd) { return (8 * n_embd / 3 + 63) / 64 * 64; }

// x (…, n_embd) → (…, n_embd).
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
