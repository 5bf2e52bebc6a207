// Results of 8 MiB and more are stored past the caches: their bits are those of smaller pieces, which are
// not.
#include <cstring>
#include <functional>

#include "../../autograd/ops.h"
#include "../../autograd/tape.h"
#include "../thread_counts.h"

namespace isobar::streaming_test {

using Op = std::function<Tensor(const Tensor& x)>;

// y and dx of `rows` rows of x and dy from `first` on.
std::vector<float> forward_and_back(const Op& op, const Tensor& x, const Tensor& dy, int64_t first,
                                    int64_t rows) {
  const auto part = [=](const Tensor& t) { return raw::clone(slice(t, 0, first, first + rows)); };
  const Tensor piece = part(x).set_trainable();
  Tape tape;
  const Tensor y = op(piece);
  std::vector<float> numbers = y.to_vector<float>();
  const auto dx = tape.gradient(y, {piece}, part(dy))[0].to_vector<float>();
  numbers.insert(numbers.end(), dx.begin(), dx.end());
  return numbers;
}

// The same of the pieces [0, half) and [half, rows), each half as large, in the order of the whole.
std::vector<float> in_halves(const Op& op, const Tensor& x, const Tensor& dy) {
  const int64_t half = x.size(0) / 2, count = half * x.size(1);
  const auto a = forward_and_back(op, x, dy, 0, half), b = forward_and_back(op, x, dy, half, half);
  std::vector<float> joined;
  for (const int64_t part : {int64_t{0}, count})
    for (const auto* piece : {&a, &b})
      joined.insert(joined.end(), piece->begin() + part, piece->begin() + part + count);
  return joined;
}

struct Row {
  std::string name;
  Op op;
};

TEST_CASE("a result that is streamed past the caches has the bits of its halves, which are not") {
  for (const int64_t columns : {1024, 1023}) {  // rows of whole cache lines, and others
    const int64_t rows = 2100;
    const Tensor x = Rng(1).normal({rows, columns}), dy = Rng(2).normal({rows, columns});
    const Tensor one = ones({1}), weight = ones({columns}), bias = zeros({columns});
    const Row table[] = {
        {"layer_norm", [=](const Tensor& t) { return layer_norm(t, {columns}, {}, {}, 1e-5); }},
        {"rms_norm", [=](const Tensor& t) { return rms_norm(t, {columns}, {}, 1e-5); }},
        {"dyt", [=](const Tensor& t) { return dyt(t, one, weight, bias); }},
        {"softmax", [](const Tensor& t) { return softmax(t); }},
        {"relu", [](const Tensor& t) { return relu(t); }},
        {"silu", [](const Tensor& t) { return silu(t); }},
    };
    for (const Row& row : table) {
      const std::vector<float> wanted = in_halves(row.op, x, dy);
      for_thread_counts([&] {
        const std::vector<float> got = forward_and_back(row.op, x, dy, 0, rows);
        CAPTURE(row.name);
        CAPTURE(columns);
        REQUIRE(got.size() == wanted.size());
        CHECK(std::memcmp(got.data(), wanted.data(), got.size() * sizeof(float)) == 0);
      });
    }
  }
}

}  // namespace isobar::streaming_test
