// KeyValueCache: the keys and values of the tokens that a model has read, so that the next token costs one
// row instead of all rows.
//
//   KeyValueCache cache;
//   Tensor logits = model(prompt, cache);    // (1, T, vocab_size), T tokens read
//   logits = model(next_token, cache);       // (1, 1, vocab_size), as if all T + 1 tokens were read again
//
// A cache belongs to one text (or a batch of texts of equal length), one model and one thread. Another model
// refuses it, and so does its own after the weights have changed. After a forward that threw, it is as it was
// before. Keys and values that were recorded on a tape belong to that tape: generate without a tape.
#pragma once

#include <utility>

#include "../module.h"

namespace isobar {

// The keys and values of one layer: (B, S, K, D) for S tokens, K heads and D channels, after normalization
// and rotation. Undefined before the first token.
struct KeyValues {
  Tensor k, v;

  int64_t length() const { return k.defined() ? k.size(1) : 0; }
  // Forgets all tokens but the first ones.
  void keep_first(int64_t tokens) {
    if (tokens == 0)
      *this = {};
    else if (tokens < length())
      k = slice(k, 1, 0, tokens), v = slice(v, 1, 0, tokens);
  }
};

// Returns body(), which appends to `past`; where it throws, `past` is as it was.
template <class Body>
Tensor appending(KeyValues& past, const Body& body) {
  const int64_t before = past.length();
  try {
    return body();
  } catch (...) {
    past.keep_first(before);
    throw;
  }
}

// Attention that can take the keys and values of earlier tokens from a cache.
struct CachingAttention : Module {
  using Module::operator();
  // x (B, T, C) → (B, T, C). `past` holds the keys and values of the tokens before x; those of x are
  // appended.
  virtual Tensor operator()(const Tensor& x, KeyValues& past) = 0;
};

struct KeyValueCache {
  std::vector<KeyValues> layers;                             // one per block, made by the first forward
  int64_t length = 0;                                        // number of tokens read
  std::vector<std::pair<const Version*, uint64_t>> weights;  // stamps_of() the model, after the last forward
};

}  // namespace isobar
