#include "loader.h"

#include <algorithm>
#include <bit>
#include <vector>

namespace isobar {
namespace {

int64_t count_batches(int64_t examples, const LoaderOptions& options) {
  const int64_t full = examples / options.batch_size;
  return !options.drop_last && examples % options.batch_size > 0 ? full + 1 : full;
}

// Of a permutation's network. Four rounds are pseudorandom for wide halves (Luby and Rackoff 1988). Halves of
// one or two bits mix little per round, so there are more rounds.
constexpr int rounds = 10;

}  // namespace

Permutation::Permutation(int64_t size, const Rng& rng) : size_(size), rng_(rng) {
  check(size >= 0, "permutation: wanted a size of at least 0, got {}", size);
  const int bits = size > 1 ? std::bit_width(static_cast<uint64_t>(size - 1)) : 0;
  high_bits_ = bits / 2;
  low_bits_ = bits - high_bits_;
}

int64_t Permutation::operator()(int64_t index) const {
  check(index >= 0 && index < size_, "permutation: index {} is outside of 0 … {}", index, size_ - 1);
  uint64_t number = static_cast<uint64_t>(index);
  do number = shuffle(number);
  while (number >= static_cast<uint64_t>(size_));
  return static_cast<int64_t>(number);
}

// One pass through the network. Each round XORs random bits chosen by one half onto the other half; the same
// XOR undoes it, so a round, and with it the whole pass, is a bijection.
uint64_t Permutation::shuffle(uint64_t number) const {
  const uint64_t low_mask = (uint64_t{1} << low_bits_) - 1, high_mask = (uint64_t{1} << high_bits_) - 1;
  uint64_t low = number & low_mask, high = number >> low_bits_;
  for (uint64_t round = 0; round < rounds; ++round) {
    if (round % 2 == 0)
      low ^= rng_.bits(round << 32 | high) & low_mask;
    else
      high ^= rng_.bits(round << 32 | low) & high_mask;
  }
  return high << low_bits_ | low;
}

Epoch::Epoch(const Dataset& dataset, const LoaderOptions& options, const Rng& rng)
    : dataset_(&dataset),
      options_(options),
      order_(dataset.size(), rng),
      batches_(count_batches(dataset.size(), options)) {}

Batch Epoch::batch(int64_t number) const {
  check(number >= 0 && number < batches_, "loader: batch {} is outside of 0 … {}", number, batches_ - 1);
  const int64_t first = number * options_.batch_size;
  std::vector<int64_t> indices(std::min(options_.batch_size, order_.size() - first));
  for (size_t i = 0; i < indices.size(); ++i) {
    const int64_t position = first + static_cast<int64_t>(i);
    indices[i] = options_.shuffle ? order_(position) : position;
  }
  return dataset_->batch(indices);
}

Loader::Loader(const Dataset& dataset, LoaderOptions options, const Rng& rng)
    : dataset_(&dataset), options_(options), rng_(rng) {
  check(options.batch_size >= 1, "loader: wanted a batch size of at least 1, got {}", options.batch_size);
  check(dataset.size() > 0, "loader: the dataset is empty");
  check(size() > 0, "loader: drop_last leaves no batch of {} from {} examples; take a smaller batch size",
        options.batch_size, dataset.size());
}

int64_t Loader::size() const { return count_batches(dataset_->size(), options_); }

Epoch Loader::epoch(int64_t e) const {
  check(e >= 0, "loader: wanted an epoch of at least 0, got {}", e);
  return Epoch(*dataset_, options_, rng_.split(static_cast<uint64_t>(e)));
}

}  // namespace isobar
