// Wrong attention: q (B, T, D), k and v (B, S, D), logits (B, T, S); with heads, (B, H, T, D).
#include <cmath>

#include "layers.h"

namespace isobar::counted_attention {
namespace {

Tensor sum_last(In x) { return sum(x, {-1}, true); }

Tensor to_heads(In x, int64_t heads) {
  return transpose(reshape(x, {x.size(0), x.size(1), heads, x.size(2) / heads}), 1, 2);
}
Tensor from_heads(In x) {
  const Tensor y = transpose(x, 1, 2);
  return reshape(y, {y.size(0), y.size(1), y.size(2) * y.size(3)});
}

// Turns neighbours (x₀, x₁), (x₂, x₃), … of x (B, T, D) at time t by t · direction radians.
Tensor turned(In x, double direction) {
  const Tensor t = cast(reshape(arange(x.size(1)), {x.size(1), 1}), x.dtype()) * direction;
  const Tensor pairs = reshape(x, {x.size(0), x.size(1), x.size(2) / 2, 2});
  const Tensor a = reshape(slice(pairs, 3, 0, 1), {x.size(0), x.size(1), x.size(2) / 2});
  const Tensor b = reshape(slice(pairs, 3, 1, 2), a.shape());
  return reshape(stack({a * cos(t) - b * sin(t), a * sin(t) + b * cos(t)}, 3), x.shape());
}

// The first two keys of three are real for every query; the last is padding.
Tensor padded(In logits) { return where(arange(logits.size(-1)) < full({}, 2, Dtype::i64), logits, -1e30); }

// Distance |t − s|, (T, T).
Tensor distances(int64_t length, Dtype dtype) {
  const Tensor t = arange(length, dtype);
  return abs(reshape(t, {length, 1}) - t);
}

const bool listed_products = list_counted({
    by_hand(
        {"attention", "the scale in dq, but not in dk", {"attention", "constant factor"}},
        {{2, 3, 6}, {2, 4, 6}, {2, 4, 5}}, {},
        [](In q, In k, In v) { return matmul(softmax(matmul(q / std::sqrt(6.0), transpose(k))), v); },
        [](In dy, In, In q, In k, In v) {
          const Tensor p = softmax(matmul(q, transpose(k)) / std::sqrt(6.0)), dp = matmul(dy, transpose(v));
          const Tensor ds = p * (dp - sum_last(dp * p));
          return std::vector{matmul(ds, k) / std::sqrt(6.0), matmul(transpose(ds), q),
                             matmul(transpose(p), dy)};
        }),
    by_hand(
        {"attention",
         "softmax's sum over queries",
         {"attention", "wrong axis"},
         {"cross-talk", "missing term"}},
        {{2, 4, 3}, {2, 4, 3}, {2, 4, 3}}, {},
        [](In q, In k, In v) { return matmul(softmax(matmul(q, transpose(k))), v); },
        [](In dy, In, In q, In k, In v) {
          const Tensor p = softmax(matmul(q, transpose(k))), dp = matmul(dy, transpose(v));
          const Tensor ds = p * (dp - sum(dp * p, {-2}, true));
          return std::vector{matmul(ds, k), matmul(transpose(ds), q), matmul(transpose(p), dy)};
        }),
    by_hand(
        {"attention", "padding mask forgotten in backward", {"attention", "cross-talk"}}, {{2, 3, 5}},
        {normal({5, 5}, 0, 0.4), normal({5, 5}, 0, 0.4)},
        [](In x, In w, In wv) {
          return matmul(softmax(padded(matmul(linear(x, w), transpose(x)))), linear(x, wv));
        },
        [](In dy, In, In x, In w, In wv) {
          const Tensor q = linear(x, w), v = linear(x, wv), p = softmax(matmul(q, transpose(x)));
          const Tensor dp = matmul(dy, transpose(v)), ds = p * (dp - sum_last(dp * p));
          const Tensor dq = matmul(ds, x), dv = matmul(transpose(p), dy);
          return std::vector{matmul(dq, w) + matmul(transpose(ds), q) + matmul(dv, wv),
                             sum(matmul(transpose(dq), x), {0}), sum(matmul(transpose(dv), x), {0})};
        }),
    by_hand(
        {"attention", "dv from p, not from its transpose", {"attention", "transposed"}},
        {{2, 4, 3}, {2, 4, 3}, {2, 4, 5}}, {},
        [](In q, In k, In v) { return matmul(softmax(matmul(q, transpose(k)) * 0.6), v); },
        [](In dy, In, In q, In k, In v) {
          const Tensor p = softmax(matmul(q, transpose(k)) * 0.6), dp = matmul(dy, transpose(v));
          const Tensor ds = p * (dp - sum_last(dp * p)) * 0.6;
          return std::vector{matmul(ds, k), matmul(transpose(ds), q), matmul(p, dy)};
        }),
    by_hand(
        {"attention", "dk and dv swapped", {"swapped inputs"}, {"attention"}},
        {{2, 3, 4}, {2, 5, 4}, {2, 5, 4}}, {},
        [](In q, In k, In v) { return matmul(softmax(matmul(q, transpose(k)) / 2.0), v); },
        [](In dy, In, In q, In k, In v) {
          const Tensor p = softmax(matmul(q, transpose(k)) / 2.0), dp = matmul(dy, transpose(v));
          const Tensor ds = p * (dp - sum_last(dp * p)) / 2.0;
          return std::vector{matmul(ds, k), matmul(transpose(p), dy), matmul(transpose(ds), q)};
        }),
    by_hand(
        {"attention",
         "dv's heads: channels and heads exchanged",
         {"attention", "misplaced"},
         {"cross-talk", "wrong axis", "transposed"}},
        {{2, 4, 6}, {2, 4, 6}, {2, 4, 6}}, {},
        [](In q, In k, In v) {
          const Tensor logits = matmul(to_heads(q, 3), transpose(to_heads(k, 3)));
          return from_heads(matmul(softmax(logits), to_heads(v, 3)));
        },
        [](In dy, In, In q_all, In k_all, In v_all) {
          const Tensor q = to_heads(q_all, 3), k = to_heads(k_all, 3), v = to_heads(v_all, 3);
          const Tensor p = softmax(matmul(q, transpose(k))), dh = to_heads(dy, 3);
          const Tensor dp = matmul(dh, transpose(v)), ds = p * (dp - sum_last(dp * p));
          const Tensor dv = permute(matmul(transpose(p), dh), {0, 2, 3, 1});  // (B, T, D, H)
          return std::vector{from_heads(matmul(ds, k)), from_heads(matmul(transpose(ds), q)),
                             reshape(dv, v_all.shape())};
        }),
    by_hand(
        {"attention", "grouped queries: dv is the group's mean", {"1/N", "constant factor", "attention"}},
        {{2, 4, 3, 4}, {2, 1, 5, 4}, {2, 1, 5, 4}}, {},
        [](In q, In k, In v) { return matmul(softmax(matmul(q, transpose(k)) / 2.0), v); },
        [](In dy, In, In q, In k, In v) {
          const Tensor p = softmax(matmul(q, transpose(k)) / 2.0), dp = matmul(dy, transpose(v));
          const Tensor ds = p * (dp - sum_last(dp * p)) / 2.0;
          return std::vector{matmul(ds, k), sum(matmul(transpose(ds), q), {1}, true),
                             mean(matmul(transpose(p), dy), {1}, true)};
        }),
});

const bool listed_around = list_counted({
    by_hand(
        {"attention",
         "rope: dk turned onward, not back",
         {"attention", "transposed", "sign"},
         {"misplaced", "cross-talk", "wrong factor"}},
        {{2, 4, 4}, {2, 4, 4}, {2, 4, 4}}, {},
        [](In q, In k, In v) {
          return matmul(softmax(matmul(turned(q, 0.7), transpose(turned(k, 0.7))) / 2.0), v);
        },
        [](In dy, In, In q0, In k0, In v) {
          const Tensor q = turned(q0, 0.7), k = turned(k0, 0.7), p = softmax(matmul(q, transpose(k)) / 2.0);
          const Tensor dp = matmul(dy, transpose(v)), ds = p * (dp - sum_last(dp * p)) / 2.0;
          return std::vector{turned(matmul(ds, k), -0.7), turned(matmul(transpose(ds), q), 0.7),
                             matmul(transpose(p), dy)};
        }),
    by_hand(
        {"attention",
         "self-attention: x through the values lost",
         {"lost branch", "missing term", "attention"}},
        {{2, 4, 5}}, {normal({5, 5}, 0, 0.4), normal({5, 5}, 0, 0.4), normal({5, 5}, 0, 0.4)},
        [](In x, In wq, In wk, In wv) {
          return matmul(softmax(matmul(linear(x, wq), transpose(linear(x, wk)))), linear(x, wv));
        },
        [](In dy, In, In x, In wq, In wk, In wv) {
          const Tensor q = linear(x, wq), k = linear(x, wk), v = linear(x, wv);
          const Tensor p = softmax(matmul(q, transpose(k))), dp = matmul(dy, transpose(v));
          const Tensor ds = p * (dp - sum_last(dp * p)), dq = matmul(ds, k), dk = matmul(transpose(ds), q);
          const Tensor dv = matmul(transpose(p), dy);
          return std::vector{matmul(dq, wq) + matmul(dk, wk), sum(matmul(transpose(dq), x), {0}),
                             sum(matmul(transpose(dk), x), {0}), sum(matmul(transpose(dv), x), {0})};
        }),
    by_hand(
        {"attention",
         "ALiBi: dslope without the distance",
         {"missing factor", "wrong factor"},
         {"attention"}},
        {{2, 4, 3}, {2, 4, 3}}, {normal({}, 0.5, 0.2)},
        [](In q, In k, In slope) {
          return matmul(softmax(matmul(q, transpose(k)) - slope * distances(4, q.dtype())), k);
        },
        [](In dy, In, In q, In k, In slope) {
          const Tensor p = softmax(matmul(q, transpose(k)) - slope * distances(4, q.dtype()));
          const Tensor dp = matmul(dy, transpose(k)), ds = p * (dp - sum_last(dp * p));
          return std::vector{matmul(ds, k), matmul(transpose(ds), q) + matmul(transpose(p), dy),
                             -sum(ds * tril(ones({4, 4}, q.dtype())))};
        }),
    by_hand(
        {"attention", "learned temperature: its gradient without the minus", {"sign"}, {"attention"}},
        {{2, 3, 4}, {2, 5, 4}, {2, 5, 4}}, {uniform({}, 1, 2)},
        [](In q, In k, In v, In temperature) {
          return matmul(softmax(matmul(q, transpose(k)) / temperature), v);
        },
        [](In dy, In, In q, In k, In v, In temperature) {
          const Tensor s = matmul(q, transpose(k)) / temperature, p = softmax(s);
          const Tensor dp = matmul(dy, transpose(v)), ds = p * (dp - sum_last(dp * p));
          return std::vector{matmul(ds, k) / temperature, matmul(transpose(ds), q) / temperature,
                             matmul(transpose(p), dy), sum(ds * s) / temperature};
        }),
    by_hand(
        {"attention",
         "queries of length 1: dq without the projection",
         {"missing term"},
         {"attention", "lost branch"}},
        {{2, 3, 4}, {2, 5, 4}}, {uniform({}, 1, 3)},
        [](In q, In k, In scale) {
          return matmul(softmax(matmul(q / norm(q, 2, {2}, true), transpose(k)) * scale), k);
        },
        [](In dy, In, In q, In k, In scale) {
          const Tensor length = norm(q, 2, {2}, true), u = q / length, logits = matmul(u, transpose(k));
          const Tensor p = softmax(logits * scale), dp = matmul(dy, transpose(k));
          const Tensor ds = p * (dp - sum_last(dp * p));
          return std::vector{matmul(ds, k) * scale / length,
                             matmul(transpose(ds), u) * scale + matmul(transpose(p), dy), sum(ds * logits)};
        }),
    by_hand(
        {"attention",
         "sigmoid attention with softmax's backward",
         {"attention", "wrong factor"},
         {"missing factor", "missing term"}},
        {{2, 3, 4}, {2, 5, 4}, {2, 5, 4}}, {},
        [](In q, In k, In v) { return matmul(sigmoid(matmul(q, transpose(k)) / 2.0), v); },
        [](In dy, In, In q, In k, In v) {
          const Tensor p = sigmoid(matmul(q, transpose(k)) / 2.0), dp = matmul(dy, transpose(v));
          const Tensor ds = p * (dp - sum_last(dp * p)) / 2.0;
          return std::vector{matmul(ds, k), matmul(transpose(ds), q), matmul(transpose(p), dy)};
        }),
    by_hand(
        {"attention",
         "attention sink: no gradient for the sink's logit",
         {"detached", "missing term", "attention"},
         {"lost branch", "missing factor"}},
        {{2, 3, 4}, {2, 5, 4}}, {normal({}, 0.5, 0.5)},
        [](In q, In k, In sink) {
          const Tensor e = exp(matmul(q, transpose(k)) / 2.0);
          return matmul(e / (sum_last(e) + exp(sink)), k);
        },
        [](In dy, In, In q, In k, In sink) {
          const Tensor e = exp(matmul(q, transpose(k)) / 2.0), p = e / (sum_last(e) + exp(sink));
          const Tensor dp = matmul(dy, transpose(k)), ds = p * (dp - sum_last(dp * p)) / 2.0;
          return std::vector{matmul(ds, k), matmul(transpose(ds), q) + matmul(transpose(p), dy),
                             zeros({}, q.dtype())};
        }),
});

}  // namespace
}  // namespace isobar::counted_attention
