// Loader: walks through a Dataset in batches, one epoch after the other.
//
//   Loader loader(dataset, {.batch_size = 64}, rng.split("loader"));
//   for (int64_t e = 0; e < epochs; ++e)
//     for (auto [x, y] : loader.epoch(e)) …
//
// The order of epoch e is a pure function of (key, e) and is computed, not stored: a loader takes the same
// few bytes for ten examples and for ten billion, and holds one batch at a time. A run can resume in the
// middle: loader.epoch(e).batch(i) is what the loop saw there. A Loader is read-only: threads may share it.
#pragma once

#include <cstdint>
#include <iterator>

#include "dataset.h"
#include "permutation.h"

namespace isobar {

struct LoaderOptions {
  int64_t batch_size = 32;
  bool shuffle = true;
  bool drop_last = false;  // leave out the last batch of an epoch where it is not full
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

  // The number of batches, and one of them. Throws Error for a number outside.
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
  // The dataset must outlive the loader. Throws Error for an empty dataset, a batch size below 1, and where
  // drop_last would leave nothing.
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
