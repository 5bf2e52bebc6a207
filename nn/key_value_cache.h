// KeyValueCache: the keys and values of the tokens that a model has read, so that the next token costs one
// row instead of all rows.
//
//   KeyValueCache cache;
//   Tensor logits = model(prompt, cache);    // (1, T, vocab_size), T tokens read
//   logits = model(next_token, cache);       // (1, 1, vocab_size), as if all T + 1 tokens were read again
//
// A cache belongs to one text (or a batch of texts of equal length), one model and one thread. Keys and
// values that were recorded on a tape belong to that tape: generate without a tape.
#pragma once

#include <vector>

#include "module.h"

namespace isobar {

// The keys and values of one layer: (B, S, K, D) for S tokens, K heads and D channels, after normalization
// and rotation. Undefined before the first token.
struct KeyValues {
  Tensor k, v;
};

// Attention that can take the keys and values of earlier tokens from a cache.
struct CachingAttention : Module {
  using Module::operator();
  // x (B, T, C) → (B, T, C). `past` holds the keys and values of the tokens before x; those of x are
  // appended.
  virtual Tensor operator()(const Tensor& x, KeyValues& past) = 0;
};

struct KeyValueCache {
  std::vector<KeyValues> layers;  // one per block, made by the first forward
  int64_t length = 0;             // number of tokens read
};

}  // namespace isobar
