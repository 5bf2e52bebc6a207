// Wrong and tricky layers where the number format matters. x (N, C).
#include "../../core/raw.h"
#include "layers.h"

namespace isobar::tuned_dtype {

Tensor row_mean(In x) { return mean(x, {-1}, true); }

const bool listed = list_tuned({
    layer({"dtype and precision",
           "softmax without the largest logit subtracted",
           {"f32 against f64", "not finite", "forward"}},
          {uniform({4, 5}, 85, 100)}, {},
          [](In x) {
            const Tensor e = exp(x);
            return e / sum(e, {1}, true);
          }),

    layer({"dtype and precision", "variance as mean x² − (mean x)²", {"f32 against f64"}, {"nearly right"}},
          {normal({4, 6}, 300, 1)}, {{6}},
          [](In x, In w) {
            const Tensor m = row_mean(x);
            return (x - m) * rsqrt(row_mean(square(x)) - square(m) + 1e-5) * w;
          }),

    // The library's ops refuse to mix dtypes, a loop of one's own does not.
    layer({"dtype and precision", "y is f32 whatever x is", {"forward", "f32 against f64"}, {"nearly right"}},
          {{4, 5}}, {{5}}, [](In x, In w) { return cast(x * w, Dtype::f32); }),

    // --- right
    by_hand(
        {"dtype and precision", "y of 1e-8"}, {{4, 5}}, {{5}}, [](In x, In w) { return tanh(x) * w * 1e-8; },
        [](In dy, In, In x, In w) {
          return std::vector{dy * w * (1 - square(tanh(x))) * 1e-8, dy * tanh(x) * 1e-8};
        }),
});

}  // namespace isobar::tuned_dtype
