// Permutation: a shuffled order of 0 … size − 1 that is computed, not stored. Position i maps to its element
// in constant time and memory, whatever the size.
//
//   Permutation order(60000, rng.split("epoch 3"));
//   order(0);   // the element that comes first
//
// A Feistel network permutes the smallest power of two that holds `size`; a result ≥ size is permuted
// again until it is < size (cycle walking, Black and Rogaway 2002, "Ciphers with arbitrary finite
// domains"). At most half of the power of two lies outside, so fewer than two passes are needed on average.
// The order is a pure function of (size, key). It shuffles data; it is no cipher, and for a tiny size the
// size! orders are not exactly equally probable.
#pragma once

#include "../core/rng.h"

namespace isobar {

class Permutation {
 public:
  // Throws Error for a negative size.
  Permutation(int64_t size, const Rng& rng);

  int64_t size() const { return size_; }
  // The element at position `index`. Throws Error outside of 0 … size − 1.
  int64_t operator()(int64_t index) const;

 private:
  uint64_t shuffle(uint64_t number) const;

  int64_t size_;
  Rng rng_;
  int low_bits_, high_bits_;  // the widths of the two halves of a number
};

}  // namespace isobar
