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

const bool listed_around = list_tuned({
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
