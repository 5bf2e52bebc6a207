// A small language model: batches, weights, the model, its loss, its training, its talk.
//
// This file is given and stays as it is. V symbols, B texts, T symbols a text, C channels, H heads, L blocks.
// Symbols are i64.
#pragma once

#include <map>
#include <string>

#include <isobar/autograd/autograd.h>
#include <isobar/core/core.h>
#include <isobar/optim/optim.h>

#include "tensors.h"

using isobar::Rng;

struct Config {
  int64_t vocabulary, layers, heads, width;  // V, L, H, C
};
// By name: "embedding" (V, C); for each block l = 0 … L − 1 "l.norm1" (C), "l.q" "l.k" "l.v" "l.o" (C, C),
// "l.norm2" (C), "l.gate" "l.up" (2C, C), "l.down" (C, 2C); "norm" (C).
using Parameters = std::map<std::string, Tensor>;

// --- task 1: row b of x is tokens[starts[b]] … of T symbols, and y the same one symbol later. tokens (N),
// starts (B). Throws isobar::Error, naming the start and N, where a row or its last target is not in the
// text.
struct Batch {
  Tensor x, y;  // (B, T)
};
Batch batch_of(const Tensor& tokens, const Tensor& starts, int64_t length);

// --- task 2: norms 1; all else N(0, 0.02), but "l.o" and "l.down", which end a branch, N(0, 0.02 / √(2L))
// (GPT-2). f32, trainable, each drawn from rng.split(name).
Parameters initial(const Config& config, const Rng& rng);
// Linear from lr / warmup at step 0 to lr at step warmup − 1; then a half cosine from lr, at step warmup, to
// lr / 10 at step `steps`; lr / 10 from there on.
double learning_rate(int64_t step, int64_t steps, int64_t warmup, double lr);

// --- task 3: symbols (B, T) → logits (B, T, V), in the parameters' dtype. A block is
//   x ← x + o(attention(rope(q(n)), rope(k(n)), v(n))), n = rms_norm(x) · norm1;   x ← x + down(silu(gate(m))
//   · up(m)), m = rms_norm(x) · norm2
// with causal attention in H heads of C/H channels, rope's base 10000 in halves, eps 1e-5, no biases. Behind
// the last block rms_norm · norm, and the embedding's rows again as lm_head.
Tensor forward(const Parameters& parameters, const Config& config, const Tensor& symbols);

// --- task 4: the mean of −log p(next symbol), in nats, over all whole texts of `length` symbols at 0,
// length, 2 length, …
double evaluate(const Parameters& parameters, const Config& config, const Tensor& tokens, int64_t length);

// --- task 5: trained parameters, those of initial() and no others. The loop is yours, the optimizer the
// library's. Reach the target with what is given: as many steps, each with one backward, at learning_rate(…).
// The grader computes the logits of these parameters too.
struct Training {
  int64_t steps, batch, length, warmup;
  double lr;
};
Parameters train(const Tensor& tokens, const Config& config, const Training& training, const Rng& rng);

// --- task 6: the next symbol for logits (V) and u in (0, 1): the first symbol at which the running sum of
// the probabilities softmax(logits / temperature) exceeds u. Only the top_k largest logits count (0: all; of
// equals the lower symbol first), temperature 0 takes the largest, the lower symbol of equals.
int64_t sample(const Tensor& logits, double temperature, int64_t top_k, double u);
