// Wrong activations.
#include <cmath>
#include <numbers>

#include "layers.h"

namespace isobar::tuned_activations {
namespace {

const double gelu_scale = std::sqrt(2 / std::numbers::pi);

const bool listed = list_tuned({
    by_hand(
        {"activations", "hard swish: the slope of the middle also beyond 3", {"one-sided"}, {"wrong factor"}},
        {normal({4, 5}, 0, 3)}, {}, [](In x) { return x * clamp(x + 3, 0, 6) / 6.0; },
        [](In dy, In, In x) { return where(x < -3, 0, dy * (2 * x + 3) / 6.0); }),
    by_hand(
        {"activations", "GELU: 0.0447 for 0.044715 in dx", {"nearly right"}}, {{4, 5}}, {},
        [](In x) { return gelu_tanh(x); },
        [](In dy, In, In x) {
          const Tensor t = tanh(gelu_scale * (x + 0.0447 * pow(x, 3)));
          const Tensor inner = gelu_scale * (1 + 3 * 0.0447 * square(x));
          return dy * (0.5 * (1 + t) + 0.5 * x * (1 - square(t)) * inner);
        }),
    by_hand(
        {"activations", "snake: dx without the residual's dy", {"dy added"}, {"missing term", "lost branch"}},
        {{4, 5}}, {uniform({5}, 0.5, 2)}, [](In x, In a) { return x + square(sin(a * x)) / a; },
        [](In dy, In, In x, In a) {
          const Tensor da = dy * (sin(2 * a * x) * x / a - square(sin(a * x)) / square(a));
          return std::vector{dy * sin(2 * a * x), sum(da, {0})};
        }),
    by_hand(
        {"activations",
         "PReLU: da sums positive x too",
         {"missing factor", "one-sided", "cross-talk"},
         {"wrong factor", "missing term"}},
        {{4, 5}}, {{5}}, [](In x, In a) { return where(x > 0, x, a * x); },
        [](In dy, In, In x, In a) {
          return std::vector{where(x > 0, dy, dy * a), sum(dy * x, {0})};
        }),
    by_hand(
        {"activations", "sigmoid: y (1 + y)", {"sign", "wrong factor"}}, {{4, 5}}, {{5}},
        [](In x, In w) { return sigmoid(x * w); },
        [](In dy, In y, In x, In w) {
          const Tensor d = dy * y * (1 + y);
          return std::vector{d * w, sum(d * x, {0})};
        }),
    by_hand(
        {"activations",
         "bell curve: dsigma over sigma², not sigma³",
         {"missing factor", "wrong factor"},
         {"constant factor", "row factor"}},
        {{4, 5}}, {uniform({5}, 0.5, 2)}, [](In x, In sigma) { return exp(square(x / sigma) / -2.0); },
        [](In dy, In y, In x, In sigma) {
          return std::vector{-dy * y * x / square(sigma), sum(dy * y * square(x / sigma), {0})};
        }),
    by_hand(
        {"activations",
         "hard tanh: clipped elements get dy",
         {"one-sided", "missing factor"},
         {"wrong factor", "cross-talk"}},
        {normal({4, 5}, 0, 1.5)}, {{5}}, [](In x, In w) { return clamp(x, -1, 1) * w; },
        [](In dy, In, In x, In w) {
          return std::vector{dy * w, sum(dy * clamp(x, -1, 1), {0})};
        }),
    by_hand(
        {"activations", "log(x² + 1e-4): eps left out of dx", {"nearly right"}}, {uniform({4, 5}, 0.4, 2)},
        {}, [](In x) { return log(square(x) + 1e-4); }, [](In dy, In, In x) { return dy * 2 / x; }),
});

}  // namespace
}  // namespace isobar::tuned_activations
