// Right layers that are hard to check: gates, attention, pools, time, state.
#include <cmath>

#include "../../core/raw.h"
#include "layers.h"

namespace isobar::counted_tricky_gates {
namespace {

Tensor step(In x, int64_t t) { return slice(x, 1, t, t + 1); }

// Equal rows.
Draw equal_rows(int64_t rows, int64_t columns) {
  return {std::function([=](const Rng& rng) {
    return raw::clone(broadcast_to(rng.normal({1, columns}), {rows, columns}));
  })};
}

// A rotation of three axes: orthogonal.
Draw orthogonal() {
  return {std::function([](const Rng& rng) {
    const double a = rng.uniform_at(0), c = std::cos(a), s = std::sin(a);
    return tensor({3, 3}, std::vector<float>{float(c), float(-s), 0, float(s), float(c), 0, 0, 0, 1});
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
    layer({"tricky", "a gate that starts at 0"}, {{4, 3}}, {{3, 3}, filled({}, 0)},
          [](In x, In w, In alpha) { return x + alpha * relu(linear(x, w)); }),
    layer({"tricky", "mean over the batch taken away"}, {normal({4, 3}, 5, 1)}, {{3}},
          [](In x, In w) { return tanh(x - mean(x, {0})) * w; }),
    layer({"tricky", "squared distance to centres, with x near them"}, {normal({4, 3}, 0, 1e-3)},
          {normal({2, 3}, 0, 1)},
          [](In x, In centres) {
            return sum(square(reshape(x, {x.size(0), 1, 3}) - centres), {2});
          }),
    layer({"tricky", "scan with decay, twice over time"}, {{2, 6, 2}}, {uniform({2}, 0.5, 0.95)},
          [](In x, In a) {
            std::vector<Tensor> h{step(x, 0)};
            for (int64_t t = 1; t < 6; ++t) h.push_back(a * h.back() + (1 - a) * step(x, t));
            const Tensor forward = concat(h, 1);
            return forward + flip(forward, {1});
          }),
    layer({"tricky", "a straight line of integers: a table of slopes"}, {integers({8}, 6)}, {{6}, {6}},
          [](In at, In slope, In offset) {
            return gather(slope, 0, at) * cast(at, slope.dtype()) + gather(offset, 0, at);
          }),
    layer({"tricky", "exp of 1e-8 x, less 1, over 1e-8"}, {{4, 3}}, {},
          [](In x) { return expm1(x * 1e-8) / 1e-8; }),
    layer({"tricky", "hard gate with wide flat parts"}, {normal({4, 5}, 0, 4)}, {{5}},
          [](In x, In w) { return x * w * clamp(x / 6.0 + 0.5, 0, 1); }),
    by_hand(
        {"tricky", "median of three by comparison"}, {{5, 3}}, {},
        [](In x) { return sum(x, {1}) - max(x, {1}) - min(x, {1}); },
        [](In dy, In, In x) {
          const Tensor middle = x < max(x, {1}, true) && x > min(x, {1}, true);
          return where(middle, broadcast_to(reshape(dy, {dy.size(0), 1}), x.shape()), 0.0);
        }),
    layer({"tricky", "a number for the whole batch"}, {{4, 3}}, {{3}},
          [](In x, In w) { return mean(square(tanh(x * w))); }),
    layer({"tricky", "eight layers deep with residuals"}, {{3, 4}}, {normal({4, 4}, 0, 0.5)},
          [](In x, In w) {
            Tensor h = x;
            for (int i = 0; i < 8; ++i) h = h + 0.3 * tanh(linear(h, w));
            return h;
          }),
});

}  // namespace
}  // namespace isobar::counted_tricky_gates
