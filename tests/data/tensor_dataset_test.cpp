#include "../../data/tensor_dataset.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "../../data/loader.h"
#include "../message_of.h"

namespace isobar::tensor_dataset_test {

using Ints = std::vector<int64_t>;

Tensor counted(const Shape& shape) {
  std::vector<float> values(shape.numel());
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  return tensor(shape, values);
}

TEST_CASE("a batch of a TensorDataset has the rows that were asked for, of any dtype") {
  const TensorDataset data(counted({4, 2, 1}), tensor({0, 10, 20, 30}, Dtype::i64));
  CHECK(data.size() == 4);
  const auto [x, y] = data.batch(Ints{3, 0, 3});
  CHECK(x.shape() == Shape{3, 2, 1});
  CHECK(x.to_vector<float>() == std::vector<float>{6, 7, 0, 1, 6, 7});
  CHECK(y.to_vector<int64_t>() == Ints{30, 0, 30});
  CHECK(!TensorDataset(counted({4, 2})).batch(Ints{1}).y.defined());
  CHECK(data.batch(Ints{}).x.shape() == Shape{0, 2, 1});
  CHECK(TensorDataset(zeros({0, 3}), zeros({0})).size() == 0);
  CHECK(message_of([&] { data.batch(Ints{4}); }) == "tensor_dataset: index 4 is outside of 0 … 3");
  CHECK(message_of([] {
          TensorDataset(zeros({4, 2}), zeros({3}));
        }) == "tensor_dataset: wanted x (N, …) and y (N, …), got [4, 2] and [3]");
  CHECK(message_of([] { TensorDataset{zeros({})}; }) ==
        "tensor_dataset: wanted x (N, …) and y (N, …), got [] and no y");
}

TEST_CASE("random_split gives each example to one part, by lengths or fractions, the same for a key") {
  const TensorDataset data(counted({10, 1}));
  const auto all_of = [](const std::vector<Subset>& parts) {
    Ints all;
    for (const Subset& part : parts) all.insert(all.end(), part.indices().begin(), part.indices().end());
    return all;
  };
  const auto by_lengths = random_split(data, {7, 0, 3}, Rng(1));
  const auto by_fractions = random_split(data, {0.75, 0.25}, Rng(1));  // 7 and 2, and one is left
  CHECK(by_lengths[0].size() == 7);
  CHECK(by_lengths[1].size() == 0);
  CHECK(by_fractions[0].size() == 8);
  CHECK(by_fractions[1].size() == 2);
  CHECK(all_of(by_lengths) == all_of(by_fractions));
  CHECK(all_of(by_lengths) != all_of(random_split(data, {7, 3}, Rng(2))));
  Ints all = all_of(by_lengths);
  CHECK(!std::is_sorted(all.begin(), all.end()));
  std::sort(all.begin(), all.end());
  CHECK(all == arange(10).to_vector<int64_t>());

  const Loader loader(by_lengths[2], {.batch_size = 3}, Rng(1));
  Ints shown;
  for (auto [x, y] : loader.epoch(0))
    for (const double v : x.to_vector<double>()) shown.push_back(static_cast<int64_t>(v));
  Ints wanted = by_lengths[2].indices();
  std::sort(shown.begin(), shown.end());
  std::sort(wanted.begin(), wanted.end());
  CHECK(shown == wanted);
}

TEST_CASE("parts that are not the whole are refused") {
  const TensorDataset data(counted({10, 1}));
  CHECK(message_of([&] {
          random_split(data, {7, 2}, Rng(1));
        }) == "random_split: wanted lengths whose sum is the dataset's size 10, got 7, 2: 1 are left");
  CHECK(message_of([&] {
          random_split(data, {7, 4}, Rng(1));
        }) == "random_split: wanted lengths whose sum is the dataset's size 10, got 7, 4");
  CHECK(message_of([&] {
          random_split(data, {0.8, 0.1}, Rng(1));
        }) == "random_split: wanted fractions whose sum is 1, got 0.8, 0.1, whose sum is 0.9");
  CHECK(message_of([&] {
          random_split(data, {1.5, -0.5}, Rng(1));
        }) == "random_split: wanted fractions in [0, 1], got 1.5");
  CHECK(message_of([&] { Subset(data, {3, 10}); }) == "subset: index 10 is outside of 0 … 9");
}

}  // namespace isobar::tensor_dataset_test
