// Wrong attention: q (B, T, D), k and v (B, S, D), logits (B, T, S); with heads, (B, H, T, D).
#include "layers.h"

namespace isobar::tuned_attention {

Tensor sum_last(In x) { return sum(x, {-1}, true); }

// Query t sees the last `length` keys up to its own.
Tensor windowed(In logits, int64_t length) {
  const Tensor s = arange(logits.size(-1), Dtype::f64);
  const Tensor t = reshape(arange(logits.size(-2), Dtype::f64), {logits.size(-2), 1});
  return where(s <= t && t < s + static_cast<double>(length), logits, -1e30);
}

const bool listed_products = list_tuned({
    by_hand(
        {"attention", "softmax without its sum", {"attention", "missing term"}},
        {{2, 3, 4}, {2, 5, 4}, {2, 5, 3}}, {},
        [](In q, In k, In v) { return matmul(softmax(matmul(q, transpose(k)) * 0.5), v); },
        [](In dy, In, In q, In k, In v) {
          const Tensor p = softmax(matmul(q, transpose(k)) * 0.5), ds = p * matmul(dy, transpose(v)) * 0.5;
          return std::vector{matmul(ds, k), matmul(transpose(ds), q), matmul(transpose(p), dy)};
        }),
    by_hand(
        {"attention", "dq and dk swapped", {"swapped inputs"}, {"attention"}},
        {{2, 4, 4}, {2, 4, 4}, {2, 4, 4}}, {},
        [](In q, In k, In v) { return matmul(softmax(matmul(q, transpose(k)) / 2.0), v); },
        [](In dy, In, In q, In k, In v) {
          const Tensor p = softmax(matmul(q, transpose(k)) / 2.0), dp = matmul(dy, transpose(v));
          const Tensor ds = p * (dp - sum_last(dp * p)) / 2.0;
          const Tensor dq = matmul(ds, k), dk = matmul(transpose(ds), q);
          return std::vector{dk, dq, matmul(transpose(p), dy)};
        }),
});

const bool listed_around = list_tuned({
    by_hand(
        {"attention",
         "self-attention: x through the keys lost",
         {"lost branch", "missing term", "attention"}},
        {{2, 3, 5}}, {normal({5, 5}, 0, 0.5), normal({5, 5}, 0, 0.5)},
        [](In x, In wq, In wv) {
          return matmul(softmax(matmul(linear(x, wq), transpose(x))), linear(x, wv));
        },
        [](In dy, In, In x, In wq, In wv) {
          const Tensor q = linear(x, wq), v = linear(x, wv), p = softmax(matmul(q, transpose(x)));
          const Tensor dp = matmul(dy, transpose(v)), ds = p * (dp - sum_last(dp * p));
          const Tensor dq = matmul(ds, x), dv = matmul(transpose(p), dy);
          return std::vector{matmul(dq, wq) + matmul(dv, wv), sum(matmul(transpose(dq), x), {0}),
                             sum(matmul(transpose(dv), x), {0})};
        }),
    by_hand(
        {"attention",
         "position bias: its gradient is the first example's",
         {"overwritten", "not summed"},
         {"missing term", "lost branch", "cross-talk"}},
        {{3, 4, 2}}, {{4, 4}},
        [](In x, In bias) { return matmul(softmax(matmul(x, transpose(x)) + bias), x); },
        [](In dy, In, In x, In bias) {
          const Tensor p = softmax(matmul(x, transpose(x)) + bias), dp = matmul(dy, transpose(x));
          const Tensor ds = p * (dp - sum_last(dp * p));
          const Tensor dx = matmul(ds, x) + matmul(transpose(ds), x) + matmul(transpose(p), dy);
          return std::vector{dx, sum(slice(ds, 0, 0, std::min<int64_t>(1, ds.size(0))), {0})};
        }),
    by_hand(
        {"attention", "window one key longer in backward", {"attention", "cross-talk"}},
        {{2, 4, 4}, {2, 4, 4}, {2, 4, 4}}, {},
        [](In q, In k, In v) { return matmul(softmax(windowed(matmul(q, transpose(k)), 2)), v); },
        [](In dy, In, In q, In k, In v) {
          const Tensor p = softmax(windowed(matmul(q, transpose(k)), 3)), dp = matmul(dy, transpose(v));
          const Tensor ds = p * (dp - sum_last(dp * p));
          return std::vector{matmul(ds, k), matmul(transpose(ds), q), matmul(transpose(p), dy)};
        }),
});

}  // namespace isobar::tuned_attention
