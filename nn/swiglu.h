// SwiGLU: y = down_proj(silu(gate_proj(x)) · up_proj(x)), Llama's feed-forward part (Shazeer 2020).
#pragma once

#include "linear.h"

namespace isobar {

struct SwiGLUOptions {
  int64_t hidden = 0;  // 0: swiglu_hidden(width)
  bool bias = false;
};

// ⌊8 width / 3⌋, which makes three matrices as large as the usual two of 4 · width, rounded up to a multiple
// of 64.
constexpr int64_t swiglu_hidden(int64_t width) { return (8 * width / 3 + 63) / 64 * 64; }

// x (…, width) → (…, width).
struct SwiGLU : Module {
  Linear gate_proj, up_proj, down_proj;

  SwiGLU(int64_t width, const Rng& rng, SwiGLUOptions options = {})
      : SwiGLU(width, options.hidden > 0 ? options.hidden : swiglu_hidden(width), options.bias, rng) {}

  Tensor forward(const Tensor& x) override { return down_proj(swiglu(gate_proj(x), up_proj(x))); }
  void fields(Fields& f) override {
    f("gate_proj", gate_proj);
    f("up_proj", up_proj);
    f("down_proj", down_proj);
  }

 private:
  SwiGLU(int64_t width, int64_t hidden, bool bias, const Rng& rng)
      : gate_proj(width, hidden, rng.split("gate_proj"), {.bias = bias}),
        up_proj(width, hidden, rng.split("up_proj"), {.bias = bias}),
        down_proj(hidden, width, rng.split("down_proj"), {.bias = bias}) {}
};

}  // namespace isobar
