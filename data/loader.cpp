#include "loader.h"

#include <algorithm>
#include <vector>

namespace isobar {
namespace {

int64_t count_batches(int64_t examples, const LoaderOptions& options) {
  const int64_t full = examples / options.batch_size;
  return !options.drop_last && examples % options.batch_size > 0 ? full + 1 : full;
}

}  // namespace

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
