// Wrong layers along time: scans, shifts, convolutions. x is (B, T) or (B, T, C).
#include <cmath>

#include "layers.h"

namespace isobar::tuned_time {
namespace {

Tensor step(In x, int64_t t) { return slice(x, 1, t, t + 1); }
// y[t] = x[t − 1], y[0] = 0; and back.
Tensor later(In x) { return concat({step(x, 0) * 0, slice(x, 1, 0, x.size(1) - 1)}, 1); }
Tensor earlier(In x) { return concat({slice(x, 1, 1, x.size(1)), step(x, 0) * 0}, 1); }

// y[t] = a y[t − 1] + x[t].
Tensor scan(In x, In a) {
  std::vector<Tensor> y{step(x, 0)};
  for (int64_t t = 1; t < x.size(1); ++t) y.push_back(a * y.back() + step(x, t));
  return concat(y, 1);
}

// d[t] = dy[t] + a d[t + 1].
Tensor scan_back(In dy, In a) {
  std::vector<Tensor> d{step(dy, dy.size(1) - 1)};
  for (int64_t t = dy.size(1) - 2; t >= 0; --t) d.insert(d.begin(), step(dy, t) + a * d.front());
  return concat(d, 1);
}

// h[t] = tanh(x[t] + u h[t − 1]).
Tensor hidden(In x, In u) {
  std::vector<Tensor> h{tanh(step(x, 0))};
  for (int64_t t = 1; t < x.size(1); ++t) h.push_back(tanh(step(x, t) + linear(h.back(), u)));
  return concat(h, 1);
}

const bool listed = list_tuned({
    by_hand(
        {"time",
         "cumulative sum: dx runs forward in time too",
         {"transposed"},
         {"misplaced", "cross-talk", "wrong axis"}},
        {{3, 5}}, {{5}}, [](In x, In w) { return cumsum(x * w, 1); },
        [](In dy, In, In x, In w) {
          return std::vector{cumsum(dy, 1) * w, sum(flip(cumsum(flip(dy, {1}), 1), {1}) * x, {0})};
        }),
    by_hand(
        {"time",
         "moving average: dx without the carry",
         {"missing term", "lost branch", "cross-talk"},
         {"overwritten", "not summed"}},
        {{3, 6}}, {}, [](In x) { return scan(x * 0.3, number(0.7, x)); },
        [](In dy, In, In) { return dy * 0.3; }),
    by_hand(
        {"time",
         "scan: da without what earlier steps did",
         {"missing term", "lost branch", "not summed"},
         {"overwritten", "cross-talk"}},
        {{2, 5, 3}}, {{3}}, [](In x, In p) { return scan(x, sigmoid(p)); },
        [](In dy, In y, In, In p) {
          const Tensor a = sigmoid(p);
          return std::vector{scan_back(dy, a), sum(dy * later(y), {0, 1}) * a * (1 - a)};
        }),
    by_hand(
        {"time", "token shift: dmu from x alone", {"missing term", "lost branch", "wrong factor"}},
        {{2, 4, 3}}, {{3}}, [](In x, In mu) { return mu * x + (1 - mu) * later(x); },
        [](In dy, In, In x, In mu) {
          return std::vector{dy * mu + earlier(dy * (1 - mu)), sum(dy * x, {0, 1})};
        }),
    by_hand(
        {"time", "causal convolution: dw one step off", {"misplaced", "wrong factor"}, {"missing term"}},
        {{2, 5, 3}}, {{3, 3}},
        [](In x, In w) {
          return x * slice(w, 0, 0, 1) + later(x) * slice(w, 0, 1, 2) + later(later(x)) * slice(w, 0, 2, 3);
        },
        [](In dy, In, In x, In w) {
          const Tensor dx = dy * slice(w, 0, 0, 1) + earlier(dy * slice(w, 0, 1, 2)) +
                            earlier(earlier(dy * slice(w, 0, 2, 3)));
          const Tensor x1 = later(x), x2 = later(x1), x3 = later(x2);
          return std::vector{dx, stack({sum(dy * x1, {0, 1}), sum(dy * x2, {0, 1}), sum(dy * x3, {0, 1})})};
        }),
    by_hand(
        {"time",
         "gated unit: da without the slope of √(1 − a²)",
         {"missing term", "lost branch"},
         {"wrong factor"}},
        {{2, 4, 3}}, {uniform({3}, 0.3, 0.8)}, [](In x, In a) { return scan(sqrt(1 - square(a)) * x, a); },
        [](In dy, In y, In, In a) {
          const Tensor d = scan_back(dy, a);
          return std::vector{d * sqrt(1 - square(a)), sum(d * later(y), {0, 1})};
        }),
    by_hand(
        {"time",
         "first difference: dx adds instead",
         {"sign"},
         {"lost branch", "wrong factor", "missing term"}},
        {{3, 5}}, {{5}}, [](In x, In w) { return (x - later(x)) * w; },
        [](In dy, In, In x, In w) {
          return std::vector{dy * w + earlier(dy * w), sum(dy * (x - later(x)), {0})};
        }),
    by_hand(
        {"time", "wave: domega without t", {"missing factor", "wrong factor"}}, {{2, 4, 3}}, {{3}},
        [](In x, In omega) {
          return sin(x + omega * cast(reshape(arange(4), {4, 1}), x.dtype()));
        },
        [](In dy, In, In x, In omega) {
          const Tensor slope = cos(x + omega * cast(reshape(arange(4), {4, 1}), x.dtype()));
          return std::vector{dy * slope, sum(dy * slope, {0, 1})};
        }),
    by_hand(
        {"time",
         "recurrent net: only one step back in time",
         {"missing term", "lost branch", "cross-talk"},
         {"overwritten", "not summed", "wrong factor"}},
        {{2, 5, 3}}, {normal({3, 3}, 0, 0.7)}, [](In x, In u) { return hidden(x, u); },
        [](In dy, In h, In, In u) {
          const Tensor slope = 1 - square(h), now = dy * slope;
          const Tensor before = earlier(matmul(now, u)) * slope;
          return std::vector{now + before, sum(matmul(transpose(now), later(h)), {0})};
        }),
});

}  // namespace
}  // namespace isobar::tuned_time
