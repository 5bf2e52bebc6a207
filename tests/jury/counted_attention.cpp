// Wrong attention: q (B, T, D), k and v (B, S, D), logits (B, T, S); with heads, (B, H, T, D).
#include "layers.h"

namespace isobar::counted_attention {

Tensor sum_last(In x) { return sum(x, {-1}, true); }

// Turns neighbours (x₀, x₁), (x₂, x₃), … of x (B, T, D) at time t by t · direction radians.
Tensor turned(In x, double direction) {
  const Tensor t = cast(reshape(arange(x.size(1)), {x.size(1), 1}), x.dtype()) * direction;
  const Tensor pairs = reshape(x, {x.size(0), x.size(1), x.size(2) / 2, 2});
  const Tensor a = reshape(slice(pairs, 3, 0, 1), {x.size(0), x.size(1), x.size(2) / 2});
  const Tensor b = reshape(slice(pairs, 3, 1, 2), a.shape());
  return reshape(stack({a * cos(t) - b * sin(t), a * sin(t) + b * cos(t)}, 3), x.shape());
}

// Distance |t − s|, (T, T).
Tensor distances(int64_t length, Dtype dtype) {
  const Tensor t = arange(length, dtype);
  return abs(reshape(t, {length, 1}) - t);
}

const bool listed_products = list_counted({
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

}  // namespace isobar::counted_attention
