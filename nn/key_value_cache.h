// KeyValueCache: what attention needs of the tokens that a model has read, so that the next token costs one
// row instead of all.
//
//   KeyValueCache cache;
//   Tensor logits = model(prompt, cache);    // (1, T, vocabulary), T tokens read
//   logits = model(next_token, cache);       // (1, 1, vocabulary), as if all T + 1 were read again
//
// It belongs to one text (or batch of texts of one length), one model and one thread. Keys and values that
// were recorded on a tape belong to that tape: generate without one.
#pragma once

#include <vector>

#include "module.h"

namespace isobar {

// Of one layer: (B, S, K, D) for S tokens, rotated and normalized as attention takes them; undefined for
// none.
struct KeyValues {
  Tensor k, v;
};

// Attention that can take the keys and values of earlier tokens from a cache.
struct CachingAttention : Module {
  using Module::operator();
  // x (B, T, C) → (B, T, C), where `past` holds the tokens before x; x's are added to it.
  virtual Tensor operator()(const Tensor& x, KeyValues& past) = 0;
};

struct KeyValueCache {
  std::vector<KeyValues> layers;  // as many as the model has, from its first forward on
  int64_t length = 0;             // tokens read
};

}  // namespace isobar
