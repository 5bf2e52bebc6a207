// Embedding: one trainable row for each symbol.
#pragma once

#include "module.h"

namespace isobar {

// Indices (…) in [0, count) → (…, width). weight (count, width) starts as N(0, 1), PyTorch's default.
struct Embedding : Module {
  Tensor weight;

  Embedding(int64_t count, int64_t width, const Rng& rng)
      : weight(rng.split("weight").normal({count, width}).set_trainable()) {}

  Tensor forward(const Tensor& indices) override { return embedding(indices, weight); }
  void fields(Fields& f) override { f("weight", weight); }
};

}  // namespace isobar
