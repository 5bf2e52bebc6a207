// Loader: iterates over a Dataset in batches, epoch after epoch.
//
//   Loader loader(dataset, {.batch_size = 64}, rng.split("loader"));
//   for (int64_t e = 0; e < epochs; ++e)
//     for (auto [x, y] : loader.epoch(e)) …
//
// The order of epoch e is a pure function of (key, e). It is computed, not stored, so memory does not grow
// with the number of examples. A run can resume within an epoch: loader.epoch(e).batch(i) is the loop's batch
// i of epoch e. A Loader is read-only: threads may share it.
#pragma once

#include <iterator>

#include "../core/rng.h"
#include "dataset.h"

namespace isobar {

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

struct LoaderOptions {
  int64_t batch_size = 32;
  bool shuffle = true;
  bool drop_last = false;  // omit the last batch of an epoch if it is not full
};

// One pass over a dataset.
class Epoch {
 public:
  class Iterator {
   public:
    Iterator(const Epoch& epoch, int64_t number) : epoch_(&epoch), number_(number) {}
    Batch operator*() const { return epoch_->batch(number_); }
    Iterator& operator++() {
      ++number_;
      return *this;
    }
    bool operator==(const Iterator& other) const { return number_ == other.number_; }

   private:
    const Epoch* epoch_;
    int64_t number_;
  };

  Epoch(const Dataset& dataset, const LoaderOptions& options, const Rng& rng);

  // The number of batches, and one batch. Throws Error for a number outside of 0 … size() − 1.
  int64_t size() const { return batches_; }
  Batch batch(int64_t number) const;

  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, batches_}; }

 private:
  const Dataset* dataset_;
  LoaderOptions options_;
  Permutation order_;
  int64_t batches_;
};

class Loader {
 public:
  // The dataset must outlive the loader. Throws Error for an empty dataset, a batch size below 1, and if
  // drop_last would leave no batch.
  Loader(const Dataset& dataset, LoaderOptions options, const Rng& rng);
  Loader(const Dataset&& dataset, LoaderOptions options, const Rng& rng) = delete;

  // Batches per epoch.
  int64_t size() const;
  // Epoch e ≥ 0.
  Epoch epoch(int64_t e) const;

 private:
  const Dataset* dataset_;
  LoaderOptions options_;
  Rng rng_;
};

}  // namespace isobar
