// Results of 8 MiB and more are stored past the caches: their bits are those of smaller pieces, which are
// not.
#include <functional>

#include "../../autograd/ops.h"
#include "../../autograd/tape.h"
#include "../../core/parallel.h"
#include "../same_tensors.h"

namespace isobar::streaming_test {

using Op = std::function<Tensor(const Tensor& x)>;

// y and dx of `rows` rows of x and dy from `first` on.
std::vector<Tensor> forward_and_back(const Op& op, const Tensor& x, const Tensor& dy, int64_t first,
                                     int64_t rows) {
  const auto part = [=](const Tensor& t) { return raw::clone(slice(t, 0, first, first + rows)); };
  const Tensor piece = part(x).set_trainable();
  Tape tape;
  const Tensor y = op(piece);
  return {y.detach(), tape.gradient(y, {piece}, part(dy))[0]};
}

struct Row {
  std::string name;
  Op op;
};

TEST_CASE("a result that is streamed past the caches has the bits of its halves, which are not") {
  for (const int64_t columns : {1024, 1023}) {  // rows of whole cache lines, and others
    const int64_t half = 1050;
    const Tensor x = Rng(1).normal({2 * half, columns}), dy = Rng(2).normal({2 * half, columns});
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
      const auto upper = forward_and_back(row.op, x, dy, 0, half),
                 lower = forward_and_back(row.op, x, dy, half, half);
      for (const int count : {1, 3}) {
        const WithThreads guard(count);
        INFO(row.name, ", columns ", columns, ", threads ", count);
        const auto whole = forward_and_back(row.op, x, dy, 0, 2 * half);
        for (size_t i = 0; i < 2; ++i) CHECK(same_bits(whole[i], concat({upper[i], lower[i]}, 0)));
      }
    }
  }
}

}  // namespace isobar::streaming_test
