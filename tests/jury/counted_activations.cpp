// Wrong activations.
#include <numbers>

#include "layers.h"

namespace isobar::counted_activations {

// The constant of SELU, rounded by the author.
constexpr double selu_scale = 1.0507009873554805, selu_alpha = 1.6732632423543772;

const bool listed = list_counted({
    by_hand(
        {"activations",
         "leaky ReLU: negative x gets dy",
         {"one-sided", "missing factor"},
         {"constant factor", "wrong factor"}},
        {{4, 5}}, {{5}}, [](In x, In w) { return where(x > 0, x, 0.1 * x) * w; },
        [](In dy, In, In x, In w) {
          return std::vector{dy * w, sum(dy * where(x > 0, x, 0.1 * x), {0})};
        }),
    by_hand(
        {"activations", "softplus with slope β: dx = dy σ(x)", {"wrong factor", "missing factor"}}, {{4, 5}},
        {uniform({5}, 0.5, 3)}, [](In x, In beta) { return softplus(beta * x) / beta; },
        [](In dy, In y, In x, In beta) {
          return std::vector{dy * sigmoid(x), sum(dy * (x * sigmoid(beta * x) - y) / beta, {0})};
        }),
    by_hand(
        {"activations", "SELU: constants of four digits in dx", {"nearly right"}}, {{4, 5}}, {},
        [](In x) { return selu_scale * where(x > 0, x, selu_alpha * expm1(minimum(x, 0))); },
        [](In dy, In, In x) { return dy * 1.0507 * where(x > 0, 1 + 0 * x, 1.6733 * exp(minimum(x, 0))); }),
    by_hand(
        {"activations",
         "Mish: dx = dy tanh(softplus(x))",
         {"missing term"},
         {"wrong factor", "missing factor"}},
        {{4, 5}}, {{5}}, [](In x, In w) { return mish(x) * w; },
        [](In dy, In, In x, In w) {
          return std::vector{dy * w * tanh(softplus(x)), sum(dy * mish(x), {0})};
        }),
    by_hand(
        {"activations",
         "snake: da without its second term",
         {"missing term", "lost branch"},
         {"wrong factor"}},
        {{4, 5}}, {uniform({5}, 0.5, 2)}, [](In x, In a) { return x + square(sin(a * x)) / a; },
        [](In dy, In, In x, In a) {
          return std::vector{dy * (1 + sin(2 * a * x)), sum(dy * sin(2 * a * x) * x / a, {0})};
        }),
    by_hand(
        {"activations", "tanh: 1 − x² for 1 − y²", {"wrong factor"}, {"missing factor"}},
        {normal({4, 5}, 0, 0.8)}, {{5}}, [](In x, In bias) { return tanh(x + bias); },
        [](In dy, In, In x, In bias) {
          const Tensor d = dy * (1 - square(x + bias));
          return std::vector{d, sum(d, {0})};
        }),
    by_hand(
        {"activations", "softsign: slope 1 / (1 + |x|)", {"missing factor", "wrong factor"}}, {{4, 5}}, {{5}},
        [](In x, In a) { return x * a / (1 + abs(x)); },
        [](In dy, In, In x, In a) {
          return std::vector{dy * a / (1 + abs(x)), sum(dy * x / (1 + abs(x)), {0})};
        }),
    by_hand(
        {"activations", "tanh's slope computed in f32", {"nearly right"}}, {uniform({4, 5}, -3, 3)},
        {uniform({5}, 1, 1.5)}, [](In x, In w) { return tanh(x * w); },
        [](In dy, In, In x, In w) {
          const Tensor slope = cast(1 - square(tanh(cast(x * w, Dtype::f32))), x.dtype());
          return std::vector{dy * slope * w, sum(dy * slope * x, {0})};
        }),
});

}  // namespace isobar::counted_activations
