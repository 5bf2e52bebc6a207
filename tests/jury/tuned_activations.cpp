// Wrong activations.
#include <cmath>
#include <numbers>

#include "layers.h"

namespace isobar::tuned_activations {

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
});

}  // namespace isobar::tuned_activations
