#include "../../data/loader.h"

#include <doctest/doctest.h>

#include <algorithm>

namespace isobar::loader_test {

// Example i is x = i, y = 10 · i; counts what it was asked for.
class Numbers : public Dataset {
 public:
  explicit Numbers(int64_t size) : size_(size) {}
  int64_t size() const override { return size_; }
  Batch batch(std::span<const int64_t> indices) const override {
    ++calls;
    std::vector<int64_t> x(indices.begin(), indices.end()), y = x;
    for (int64_t& value : y) value *= 10;
    const int64_t count = static_cast<int64_t>(x.size());
    return {tensor(Shape{count}, x), tensor(Shape{count}, y)};
  }
  mutable int64_t calls = 0;

 private:
  int64_t size_;
};

std::vector<int64_t> examples(const Epoch& epoch) {
  std::vector<int64_t> all;
  for (auto [x, y] : epoch)
    for (const int64_t value : x.to_vector<int64_t>()) all.push_back(value);
  return all;
}

std::vector<int64_t> sorted(std::vector<int64_t> values) {
  std::sort(values.begin(), values.end());
  return values;
}

TEST_CASE("loader shows every example once per epoch, whatever the sizes") {
  for (const int64_t size : {1, 2, 7, 8, 9, 64, 100})
    for (const int64_t batch_size : {1, 3, 8, 200}) {
      INFO("size ", size, ", batch_size ", batch_size);
      const Numbers numbers(size);
      const Loader loader(numbers, {.batch_size = batch_size}, Rng(1));
      CHECK(sorted(examples(loader.epoch(0))) == arange(size).to_vector<int64_t>());
      CHECK(loader.size() == (size + batch_size - 1) / batch_size);
    }
}

TEST_CASE("loader's order differs between epochs and keys and is the same again") {
  const Numbers numbers(100);
  const Loader loader(numbers, {.batch_size = 8}, Rng(3));
  const auto third = examples(loader.epoch(3));
  CHECK(third != examples(loader.epoch(4)));
  CHECK(third != examples(Loader(numbers, {.batch_size = 8}, Rng(4)).epoch(3)));
  CHECK(third == examples(Loader(numbers, {.batch_size = 8}, Rng(3)).epoch(3)));
  // The batch size cuts the order and does not change it.
  CHECK(third == examples(Loader(numbers, {.batch_size = 13}, Rng(3)).epoch(3)));
}

TEST_CASE("loader without shuffling goes from first to last") {
  const Numbers numbers(20);
  const Loader loader(numbers, {.batch_size = 6, .shuffle = false}, Rng(1));
  CHECK(examples(loader.epoch(5)) == arange(20).to_vector<int64_t>());
}

TEST_CASE("loader's last batch is short, or dropped on demand") {
  const Numbers numbers(20);
  const Epoch kept = Loader(numbers, {.batch_size = 6}, Rng(1)).epoch(0);
  CHECK(kept.size() == 4);
  CHECK(kept.batch(3).x.shape() == Shape{2});
  const Epoch dropped = Loader(numbers, {.batch_size = 6, .drop_last = true}, Rng(1)).epoch(0);
  CHECK(dropped.size() == 3);
  CHECK(examples(dropped).size() == 18);
}

TEST_CASE("loader resumes in the middle of an epoch") {
  const Numbers numbers(100);
  const Epoch epoch = Loader(numbers, {.batch_size = 8}, Rng(3)).epoch(2);
  const auto all = examples(epoch);
  const auto fifth = epoch.batch(5).x.to_vector<int64_t>();
  CHECK(fifth == std::vector<int64_t>(all.begin() + 40, all.begin() + 48));
}

TEST_CASE("loader asks for a batch when it is wanted and not before") {
  const Numbers numbers(int64_t{1} << 59);  // and its cost does not grow with the size of the dataset
  const Loader loader(numbers, {.batch_size = 4}, Rng(1));
  const Epoch epoch = loader.epoch(0);
  CHECK(numbers.calls == 0);
  auto batches = epoch.begin();
  CHECK((*batches).x.shape() == Shape{4});
  CHECK((*++batches).x.shape() == Shape{4});
  CHECK(numbers.calls == 2);
}

}  // namespace isobar::loader_test
