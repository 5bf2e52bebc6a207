// Right layers that are hard to check: gates, attention, pools, time, state.
#include <cmath>

#include "layers.h"

namespace isobar::counted_tricky_gates {

// A rotation of three axes: orthogonal.
Draw orthogonal() {
  return {std::function([](const Rng& rng) {
    const double a = rng.uniform_at(0), c = std::cos(a), s = std::sin(a);
    return tensor({3, 3}, std::vector<float>{float(c), float(-s), 0, float(s), float(c), 0, 0, 0, 1});
  })};
}

// Equal rows.
Draw equal_rows(int64_t rows, int64_t columns) {
  return {std::function([=](const Rng& rng) {
    return raw::clone(broadcast_to(rng.normal({1, columns}), {rows, columns}));
  })};
}

const bool listed = list_counted({
    by_hand(
        {"tricky", "attention that sees one key alone: dq and dk are 0"}, {{2, 3, 4}, {2, 1, 4}, {2, 1, 4}},
        {}, [](In q, In k, In v) { return matmul(softmax(matmul(q, transpose(k))), v); },
        [](In dy, In, In q, In k, In v) {
          const Tensor p = softmax(matmul(q, transpose(k))), dp = matmul(dy, transpose(v));
          const Tensor ds = p * (dp - sum(p * dp, {-1}, true));
          return std::vector{matmul(ds, k), matmul(transpose(ds), q), matmul(transpose(p), dy)};
        }),
    layer({"tricky", "equal rows"}, {equal_rows(4, 3)}, {{3, 3}},
          [](In x, In w) { return softmax(linear(x, w)) * x; }),
    layer({"tricky", "orthogonal weight, and back by its transpose"}, {{4, 3}}, {orthogonal()},
          [](In x, In w) { return matmul(tanh(linear(x, w)), w); }),
    layer({"tricky", "the two largest of five, times their softmax"}, {{4, 5}}, {{5}},
          [](In x, In w) {
            const Tensor first = argmax(x, 1, true), columns = arange(x.size(1));
            const Tensor second = argmax(where(columns == first, -1e30, x), 1, true);
            const Tensor best = concat({first, second}, 1);
            return gather(x * w, 1, best) * softmax(gather(x, 1, best));
          }),
});

}  // namespace isobar::counted_tricky_gates
