#include "tensor_dataset.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "../core/raw.h"
#include "loader.h"

namespace isobar {
namespace {

void check_indices(const char* name, std::span<const int64_t> indices, int64_t size) {
  for (const int64_t i : indices)
    check(i >= 0 && i < size, "{}: index {} is outside of 0 … {}", name, i, size - 1);
}

// The rows of x with these indices.
Tensor rows_of(const Tensor& x, std::span<const int64_t> indices) {
  Tensor y(x.shape().with(0, static_cast<int64_t>(indices.size())), x.dtype());
  dispatch_any(x.dtype(), [&]<class T>() {
    const int64_t width = x.size(0) > 0 ? x.numel() / x.size(0) : 0;
    const T* from = x.data<T>();
    T* to = raw::write<T>(y);
    for (const int64_t i : indices) to = std::copy_n(from + i * width, width, to);
  });
  return y;
}

}  // namespace

TensorDataset::TensorDataset(const Tensor& x, const Tensor& y) {
  check(x.ndim() >= 1 && (!y.defined() || (y.ndim() >= 1 && y.size(0) == x.size(0))),
        "tensor_dataset: wanted x (N, …) and y (N, …), got {} and {}", x.shape(),
        y.defined() ? y.shape().text() : "no y");
  x_ = raw::contiguous(x).detach();
  if (y.defined()) y_ = raw::contiguous(y).detach();
}

Batch TensorDataset::batch(std::span<const int64_t> indices) const {
  check_indices("tensor_dataset", indices, size());
  return {rows_of(x_, indices), y_.defined() ? rows_of(y_, indices) : Tensor()};
}

Subset::Subset(const Dataset& dataset, std::vector<int64_t> indices)
    : dataset_(&dataset), indices_(std::move(indices)) {
  check_indices("subset", indices_, dataset.size());
}

Batch Subset::batch(std::span<const int64_t> indices) const {
  check_indices("subset", indices, size());
  std::vector<int64_t> of_all;
  for (const int64_t i : indices) of_all.push_back(indices_[i]);
  return dataset_->batch(of_all);
}

std::vector<Subset> random_split(const Dataset& dataset, const std::vector<int64_t>& lengths,
                                 const Rng& rng) {
  int64_t left = dataset.size();
  for (const int64_t length : lengths) {
    check(length >= 0 && length <= left,
          "random_split: wanted lengths whose sum is the dataset's size {}, got {}", dataset.size(),
          fmt::join(lengths, ", "));
    left -= length;
  }
  check(left == 0, "random_split: wanted lengths whose sum is the dataset's size {}, got {}: {} are left",
        dataset.size(), fmt::join(lengths, ", "), left);
  const Permutation order(dataset.size(), rng);
  std::vector<Subset> parts;
  int64_t next = 0;
  for (const int64_t length : lengths) {
    std::vector<int64_t> indices;
    for (int64_t i = 0; i < length; ++i) indices.push_back(order(next++));
    parts.emplace_back(dataset, std::move(indices));
  }
  return parts;
}

std::vector<Subset> random_split(const Dataset& dataset, const std::vector<double>& fractions,
                                 const Rng& rng) {
  double total = 0;
  std::vector<int64_t> lengths;
  for (const double fraction : fractions) {
    check(fraction >= 0 && fraction <= 1, "random_split: wanted fractions in [0, 1], got {}", fraction);
    total += fraction;
    lengths.push_back(static_cast<int64_t>(std::floor(static_cast<double>(dataset.size()) * fraction)));
  }
  check(std::abs(total - 1) <= 1e-9, "random_split: wanted fractions whose sum is 1, got {}, whose sum is {}",
        fmt::join(fractions, ", "), total);
  int64_t left = dataset.size() - std::accumulate(lengths.begin(), lengths.end(), int64_t{0});
  for (size_t i = 0; left > 0; i = (i + 1) % lengths.size(), --left) ++lengths[i];
  return random_split(dataset, lengths, rng);
}

}  // namespace isobar
