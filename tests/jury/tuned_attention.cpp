// Wrong attention: q (B, T, D), k and v (B, S, D), logits (B, T, S); with heads, (B, H, T, D).
#include <cmath>

#include "layers.h"

namespace isobar::tuned_attention {
namespace {

Tensor sum_last(In x) { return sum(x, {-1}, true); }

Tensor causal(In logits) {
  const Tensor t = reshape(arange(logits.size(-2)), {logits.size(-2), 1});
  return where(arange(logits.size(-1)) <= t, logits, -1e30);
}

// Query t sees the last `length` keys up to its own.
Tensor windowed(In logits, int64_t length) {
  const Tensor s = arange(logits.size(-1), Dtype::f64);
  const Tensor t = reshape(arange(logits.size(-2), Dtype::f64), {logits.size(-2), 1});
  return where(s <= t && t < s + static_cast<double>(length), logits, -1e30);
}

Tensor to_heads(In x, int64_t heads) {
  return transpose(reshape(x, {x.size(0), x.size(1), heads, x.size(2) / heads}), 1, 2);
}
Tensor from_heads(In x) {
  const Tensor y = transpose(x, 1, 2);
  return reshape(y, {y.size(0), y.size(1), y.size(2) * y.size(3)});
}

// Rotates each pair of halves of x at time t by t · direction radians.
Tensor rotated(In x, double direction) {
  const int64_t half = x.size(-1) / 2;
  const Tensor t = cast(reshape(arange(x.size(1)), {x.size(1), 1}), x.dtype()) * direction;
  const Tensor a = slice(x, -1, 0, half), b = slice(x, -1, half, 2 * half);
  return concat({a * cos(t) - b * sin(t), a * sin(t) + b * cos(t)}, -1);
}

const bool listed_products = list_tuned({
    by_hand(
        {"attention", "1/√D forgotten in dq and dk", {"attention", "constant factor"}},
        {{2, 3, 4}, {2, 5, 4}, {2, 5, 4}}, {},
        [](In q, In k, In v) { return matmul(softmax(matmul(q, transpose(k)) / 2.0), v); },
        [](In dy, In, In q, In k, In v) {
          const Tensor p = softmax(matmul(q, transpose(k)) / 2.0), dp = matmul(dy, transpose(v));
          const Tensor ds = p * (dp - sum_last(dp * p));
          return std::vector{matmul(ds, k), matmul(transpose(ds), q), matmul(transpose(p), dy)};
        }),
    by_hand(
        {"attention", "softmax without its sum", {"attention", "missing term"}},
        {{2, 3, 4}, {2, 5, 4}, {2, 5, 3}}, {},
        [](In q, In k, In v) { return matmul(softmax(matmul(q, transpose(k)) * 0.5), v); },
        [](In dy, In, In q, In k, In v) {
          const Tensor p = softmax(matmul(q, transpose(k)) * 0.5), ds = p * matmul(dy, transpose(v)) * 0.5;
          return std::vector{matmul(ds, k), matmul(transpose(ds), q), matmul(transpose(p), dy)};
        }),
    by_hand(
        {"attention", "causal mask forgotten in backward", {"attention", "cross-talk"}},
        {{2, 4, 4}, {2, 4, 4}, {2, 4, 4}}, {},
        [](In q, In k, In v) { return matmul(softmax(causal(matmul(q, transpose(k)))), v); },
        [](In dy, In, In q, In k, In v) {
          const Tensor p = softmax(matmul(q, transpose(k))), dp = matmul(dy, transpose(v));
          const Tensor ds = p * (dp - sum_last(dp * p));
          return std::vector{matmul(ds, k), matmul(transpose(ds), q), matmul(transpose(p), dy)};
        }),
    by_hand(
        {"attention", "dk from ds, not from its transpose", {"attention", "transposed"}, {"missing term"}},
        {{2, 4, 5}}, {normal({5, 5}, 0, 0.5), normal({5, 5}, 0, 0.5)},
        [](In x, In wq, In wk) {
          return matmul(softmax(matmul(linear(x, wq), transpose(linear(x, wk))) * 0.4), x);
        },
        [](In dy, In, In x, In wq, In wk) {
          const Tensor q = linear(x, wq), k = linear(x, wk), p = softmax(matmul(q, transpose(k)) * 0.4);
          const Tensor dp = matmul(dy, transpose(x)), ds = p * (dp - sum_last(dp * p)) * 0.4;
          const Tensor dq = matmul(ds, k), dk = matmul(ds, q);
          return std::vector{matmul(transpose(p), dy) + matmul(dq, wq) + matmul(dk, wk),
                             sum(matmul(transpose(dq), x), {0}), sum(matmul(transpose(dk), x), {0})};
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
    by_hand(
        {"attention",
         "dq's heads put together without a transpose",
         {"attention", "misplaced"},
         {"cross-talk", "wrong axis", "transposed"}},
        {{2, 5, 6}, {2, 5, 6}, {2, 5, 6}}, {},
        [](In q, In k, In v) {
          const Tensor logits = matmul(to_heads(q, 2), transpose(to_heads(k, 2)));
          return from_heads(matmul(softmax(logits / std::sqrt(3.0)), to_heads(v, 2)));
        },
        [](In dy, In, In q_all, In k_all, In v_all) {
          const Tensor q = to_heads(q_all, 2), k = to_heads(k_all, 2), v = to_heads(v_all, 2);
          const Tensor p = softmax(matmul(q, transpose(k)) / std::sqrt(3.0)), dh = to_heads(dy, 2);
          const Tensor dp = matmul(dh, transpose(v)), ds = p * (dp - sum_last(dp * p)) / std::sqrt(3.0);
          return std::vector{reshape(matmul(ds, k), q_all.shape()), from_heads(matmul(transpose(ds), q)),
                             from_heads(matmul(transpose(p), dh))};
        }),
    by_hand(
        {"attention",
         "grouped queries: dk of the last query head alone",
         {"overwritten", "not summed", "attention"},
         {"lost branch", "missing term"}},
        {{2, 3, 3, 4}, {2, 1, 4, 4}, {2, 1, 4, 4}}, {},
        [](In q, In k, In v) { return matmul(softmax(matmul(q, transpose(k)) / 2.0), v); },
        [](In dy, In, In q, In k, In v) {
          const Tensor p = softmax(matmul(q, transpose(k)) / 2.0), dp = matmul(dy, transpose(v));
          const Tensor ds = p * (dp - sum_last(dp * p)) / 2.0, dk = matmul(transpose(ds), q);
          return std::vector{matmul(ds, k), slice(dk, 1, 2, 3), sum(matmul(transpose(p), dy), {1}, true)};
        }),
});

const bool listed_around = list_tuned({
    by_hand(
        {"attention",
         "rope: dq not rotated back",
         {"attention"},
         {"wrong factor", "missing factor", "cross-talk", "misplaced"}},
        {{2, 3, 4}, {2, 5, 4}, {2, 5, 4}}, {},
        [](In q, In k, In v) {
          return matmul(softmax(matmul(rotated(q, 1), transpose(rotated(k, 1))) / 2.0), v);
        },
        [](In dy, In, In q0, In k0, In v) {
          const Tensor q = rotated(q0, 1), k = rotated(k0, 1), p = softmax(matmul(q, transpose(k)) / 2.0);
          const Tensor dp = matmul(dy, transpose(v)), ds = p * (dp - sum_last(dp * p)) / 2.0;
          return std::vector{matmul(ds, k), rotated(matmul(transpose(ds), q), -1), matmul(transpose(p), dy)};
        }),
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
        {"attention", "softcap forgotten in backward", {"missing factor", "wrong factor", "attention"}},
        {{2, 3, 4}, {2, 5, 4}, {2, 5, 4}}, {},
        [](In q, In k, In v) { return matmul(softmax(tanh(matmul(q, transpose(k)) / 3.0) * 3.0), v); },
        [](In dy, In, In q, In k, In v) {
          const Tensor p = softmax(tanh(matmul(q, transpose(k)) / 3.0) * 3.0);
          const Tensor dp = matmul(dy, transpose(v)), ds = p * (dp - sum_last(dp * p));
          return std::vector{matmul(ds, k), matmul(transpose(ds), q), matmul(transpose(p), dy)};
        }),
    by_hand(
        {"attention",
         "linear attention: denominator taken as constant",
         {"missing term", "lost branch", "attention"}},
        {{2, 3, 4}, {2, 5, 4}, {2, 5, 4}}, {},
        [](In q, In k, In v) {
          const Tensor denominator = matmul(exp(q), transpose(sum(exp(k), {1}, true)));
          return matmul(exp(q), matmul(transpose(exp(k)), v)) / denominator;
        },
        [](In dy, In, In q, In k, In v) {
          const Tensor dn = dy / matmul(exp(q), transpose(sum(exp(k), {1}, true)));
          const Tensor dq = matmul(dn, matmul(transpose(v), exp(k)));
          const Tensor dk = matmul(v, matmul(transpose(dn), exp(q)));
          return std::vector{dq * exp(q), dk * exp(k), matmul(exp(k), matmul(transpose(exp(q)), dn))};
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
    by_hand(
        {"attention",
         "cross-attention: memory through the values alone",
         {"lost branch", "missing term", "attention"}},
        {{2, 3, 4}, {2, 5, 4}}, {normal({4, 4}, 0, 0.5)},
        [](In x, In memory, In w) {
          return matmul(softmax(matmul(x, transpose(linear(memory, w)))), memory) + x;
        },
        [](In dy, In, In x, In memory, In w) {
          const Tensor k = linear(memory, w), p = softmax(matmul(x, transpose(k)));
          const Tensor dp = matmul(dy, transpose(memory)), ds = p * (dp - sum_last(dp * p));
          const Tensor dk = matmul(transpose(ds), x);
          return std::vector{dy + matmul(ds, k), matmul(transpose(p), dy),
                             sum(matmul(transpose(dk), memory), {0})};
        }),
});

}  // namespace
}  // namespace isobar::tuned_attention
