// Linear: y = x Wᵀ + b. Embedding: one trainable row for each index.
#pragma once

#include "init.h"
#include "module.h"

namespace isobar {

struct LinearOptions {
  bool bias = true;
};

// x (…, in) → (…, out); weight (out, in), bias (out). Both start as U(±1/√in), PyTorch's default.
struct Linear : Module {
  Tensor weight, bias;

  Linear(int64_t in, int64_t out, const Rng& rng, LinearOptions options = {})
      : Linear(init::linear_default({out, in}, in, rng.split("weight")),
               options.bias ? init::linear_default({out}, in, rng.split("bias")) : Tensor()) {}
  // Uses these tensors, and makes them trainable; an undefined bias means no bias.
  explicit Linear(Tensor given_weight, Tensor given_bias = {})
      : weight(std::move(given_weight)), bias(std::move(given_bias)) {
    weight.set_trainable();
    if (bias.defined()) bias.set_trainable();
  }

  Tensor forward(const Tensor& x) override { return linear(x, weight, bias); }
  // Returns cross_entropy((*this)(x), targets) without storing all logits at once; see
  // linear_cross_entropy(). Throws Error for a layer with bias.
  Tensor cross_entropy(const Tensor& x, const Tensor& targets) {
    check(!bias.defined(), "linear: cross_entropy() wants a layer without bias, got bias {}",
          bias.defined() ? bias.shape() : Shape());
    return call([this, &x, &targets] { return linear_cross_entropy(x, weight, targets); }, Output::hidden);
  }
  void fields(Fields& f) override {
    f("weight", weight);
    f("bias", bias);
  }
};

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
