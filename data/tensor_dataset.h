// TensorDataset: examples that are rows of two tensors. Subset: some examples of another dataset, as
// random_split() makes them.
//
//   const TensorDataset all(x, y);                           // x (N, …), y (N, …)
//   const auto parts = random_split(all, {0.8, 0.2}, rng.split("split"));
//   Loader loader(parts[0], {.batch_size = 64}, rng.split("loader"));
//
// Read-only once built: threads may share them.
#pragma once

#include <initializer_list>
#include <vector>

#include "../core/rng.h"
#include "dataset.h"

namespace isobar {

class TensorDataset : public Dataset {
 public:
  // Example i is x[i] and y[i], of any dtypes; batch() returns x (B, …) and y (B, …), as constants. Without
  // y, the y of a batch is undefined. Throws Error unless both have the same first extent. The tensors are
  // shared, not copied.
  explicit TensorDataset(const Tensor& x, const Tensor& y = {});

  int64_t size() const override { return x_.size(0); }
  Batch batch(std::span<const int64_t> indices) const override;

 private:
  Tensor x_, y_;
};

// Example i is example indices[i] of a dataset that outlives the subset.
class Subset : public Dataset {
 public:
  // Throws Error for an index outside of the dataset.
  Subset(const Dataset& dataset, std::vector<int64_t> indices);
  Subset(const Dataset&& dataset, std::vector<int64_t> indices) = delete;

  int64_t size() const override { return static_cast<int64_t>(indices_.size()); }
  Batch batch(std::span<const int64_t> indices) const override;
  const std::vector<int64_t>& indices() const { return indices_; }

 private:
  const Dataset* dataset_;
  std::vector<int64_t> indices_;
};

// Divides a dataset at random into parts of these lengths, whose sum is its size, or of these fractions,
// whose sum is 1. As in PyTorch, each part is rounded down, and the remaining examples go to the first parts,
// one each. The order depends only on the size and the key. Throws Error for other sums.
std::vector<Subset> random_split(const Dataset& dataset, const std::vector<int64_t>& lengths, const Rng& rng);
std::vector<Subset> random_split(const Dataset& dataset, const std::vector<double>& fractions,
                                 const Rng& rng);
template <class Number>
std::vector<Subset> random_split(const Dataset& dataset, std::initializer_list<Number> parts,
                                 const Rng& rng) {
  if constexpr (std::is_floating_point_v<Number>)
    return random_split(dataset, std::vector<double>(parts.begin(), parts.end()), rng);
  else
    return random_split(dataset, std::vector<int64_t>(parts.begin(), parts.end()), rng);
}

}  // namespace isobar
