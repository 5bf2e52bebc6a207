// Wrong layers along time: scans, shifts, convolutions. x is (B, T) or (B, T, C).
#include <cmath>

#include "layers.h"

namespace isobar::counted_time {
namespace {

Tensor step(In x, int64_t t) { return slice(x, 1, t, t + 1); }
// y[t] = x[t − by], 0 before; and back.
Tensor later(In x, int64_t by = 1) {
  return concat({slice(x, 1, 0, by) * 0, slice(x, 1, 0, x.size(1) - by)}, 1);
}
Tensor earlier(In x, int64_t by = 1) {
  return concat({slice(x, 1, by, x.size(1)), slice(x, 1, 0, by) * 0}, 1);
}

// y[t] = a y[t − 1] + x[t], and back: d[t] = dy[t] + a d[t + 1].
Tensor scan(In x, In a) {
  std::vector<Tensor> y{step(x, 0)};
  for (int64_t t = 1; t < x.size(1); ++t) y.push_back(a * y.back() + step(x, t));
  return concat(y, 1);
}
Tensor scan_back(In dy, In a) { return flip(scan(flip(dy, {1}), a), {1}); }

// e^(−λ |t − s|), (T, T).
Tensor decay(In rate, int64_t length) {
  const Tensor t = cast(arange(length), rate.dtype());
  return exp(-rate * abs(reshape(t, {length, 1}) - t));
}

// h[t] = tanh(x[t] + u h[t − 1]).
Tensor hidden(In x, In u) {
  std::vector<Tensor> h{tanh(step(x, 0))};
  for (int64_t t = 1; t < x.size(1); ++t) h.push_back(tanh(step(x, t) + linear(h.back(), u)));
  return concat(h, 1);
}

const bool listed = list_counted({
    by_hand(
        {"time",
         "cumulative sum: dx leaves out the step itself",
         {"dy added", "missing term"},
         {"misplaced", "lost branch", "cross-talk"}},
        {{3, 5}}, {}, [](In x) { return cumsum(x, 1); },
        [](In dy, In, In) { return flip(cumsum(flip(dy, {1}), 1), {1}) - dy; }),
    by_hand(
        {"time",
         "moving average: the carry back without its factor",
         {"missing factor", "wrong factor", "constant factor"},
         {"missing term", "cross-talk"}},
        {{3, 6}}, {}, [](In x) { return scan(x, number(0.7, x)); },
        [](In dy, In, In) { return flip(cumsum(flip(dy, {1}), 1), {1}); }),
    by_hand(
        {"time",
         "scan: da of the last step alone",
         {"missing term", "overwritten", "not summed"},
         {"lost branch", "cross-talk"}},
        {{2, 5, 3}}, {uniform({3}, 0.3, 0.9)}, [](In x, In a) { return scan(x, a); },
        [](In dy, In y, In, In a) {
          const Tensor d = scan_back(dy, a);
          return std::vector{d, sum(step(d, 4) * step(y, 3), {0, 1})};
        }),
    by_hand(
        {"time",
         "token shift: x through the earlier step lost",
         {"lost branch", "missing term"},
         {"cross-talk"}},
        {{2, 4, 3}}, {{3}}, [](In x, In mu) { return x + mu * (later(x) - x); },
        [](In dy, In, In x, In mu) {
          return std::vector{dy * (1 - mu), sum(dy * (later(x) - x), {0, 1})};
        }),
    by_hand(
        {"time", "causal convolution: dx runs forward too", {"transposed", "misplaced"}, {"cross-talk"}},
        {{2, 5, 3}}, {{3, 3}},
        [](In x, In w) {
          return x * slice(w, 0, 0, 1) + later(x) * slice(w, 0, 1, 2) + later(x, 2) * slice(w, 0, 2, 3);
        },
        [](In dy, In, In x, In w) {
          const Tensor dx =
              dy * slice(w, 0, 0, 1) + later(dy * slice(w, 0, 1, 2)) + later(dy * slice(w, 0, 2, 3), 2);
          return std::vector{
              dx, stack({sum(dy * x, {0, 1}), sum(dy * later(x), {0, 1}), sum(dy * later(x, 2), {0, 1})})};
        }),
    by_hand(
        {"time", "dilation 2 forgotten in dx", {"misplaced"}, {"missing term", "transposed", "lost branch"}},
        {{2, 6, 2}}, {{2}, {2}}, [](In x, In a, In b) { return x * a + later(x, 2) * b; },
        [](In dy, In, In x, In a, In b) {
          return std::vector{dy * a + earlier(dy * b), sum(dy * x, {0, 1}), sum(dy * later(x, 2), {0, 1})};
        }),
    by_hand(
        {"time", "decay by distance: sign of drate", {"sign"}, {}}, {{2, 4, 3}}, {uniform({}, 0.3, 1)},
        [](In x, In rate) { return matmul(decay(rate, 4), x); },
        [](In dy, In, In x, In rate) {
          const Tensor m = decay(rate, 4), t = cast(arange(4), x.dtype());
          const Tensor dm = sum(matmul(dy, transpose(x)), {0});
          return std::vector{matmul(transpose(m), dy), sum(dm * m * abs(reshape(t, {4, 1}) - t))};
        }),
    by_hand(
        {"time",
         "sum in chunks of 4: the tail's elements get nothing",
         {"cross-talk", "missing term"},
         {"one-sided", "missing factor", "lost branch"}},
        {{2, 6}}, {{6}}, [](In x, In w) { return cumsum(x * w, 1); },
        [](In dy, In, In x, In w) {
          const Tensor d = flip(cumsum(flip(dy, {1}), 1), {1}), whole = pad(slice(d, 1, 0, 4), {0, 2});
          return std::vector{whole * w, sum(whole * x, {0})};
        }),
    by_hand(
        {"time",
         "weighted mean of the past: the denominator taken as constant",
         {"missing term", "lost branch"},
         {"attention"}},
        {{2, 4, 3}, {2, 4, 3}}, {}, [](In k, In v) { return cumsum(exp(k) * v, 1) / cumsum(exp(k), 1); },
        [](In dy, In, In k, In v) {
          const Tensor d = flip(cumsum(flip(dy / cumsum(exp(k), 1), {1}), 1), {1});
          return std::vector{d * exp(k) * v, d * exp(k)};
        }),
    by_hand(
        {"time",
         "recurrent net: du from h[t], not from h[t − 1]",
         {"misplaced", "wrong factor"},
         {"missing factor"}},
        {{2, 4, 3}}, {normal({3, 3}, 0, 0.7)}, [](In x, In u) { return hidden(x, u); },
        [](In dy, In h, In, In u) {
          std::vector<Tensor> d(4);
          for (int64_t t = 3; t >= 0; --t) {
            const Tensor carried = t == 3 ? step(dy, 3) : step(dy, t) + matmul(d[t + 1], u);
            d[t] = carried * (1 - square(step(h, t)));
          }
          const Tensor dx = concat(d, 1);
          return std::vector{dx, sum(matmul(transpose(dx), h), {0})};
        }),
});

}  // namespace
}  // namespace isobar::counted_time
