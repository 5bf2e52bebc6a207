// Embedding: one trainable row for each index.
#pragma once

#include "module.h"

namespace isobar {

// Indices (…), i32 or i64, in [0, num_embeddings) → (…, embedding_dim). weight (num_embeddings,
// embedding_dim) starts as N(0, 1), PyTorch's default.
struct Embedding : Module {
  Tensor weight;

  Embedding(int64_t num_embeddings, int64_t embedding_dim, const Rng& rng)
      : weight(rng.split("weight").normal({num_embeddings, embedding_dim}).set_trainable()) {}

  Tensor forward(const Tensor& indices) override { return embedding(indices, weight); }
  void fields(Fields& f) override { f("weight", weight); }
};

}  // namespace isobar
