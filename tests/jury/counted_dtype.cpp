// Wrong and tricky layers where the number format matters. x (N, C).
#include "../../core/raw.h"
#include "layers.h"

namespace isobar::counted_dtype {

const bool listed = list_counted({
    layer({"dtype and precision", "raw loop that knows f64 alone", {"f32 against f64", "forward"}}, {{4, 5}},
          {},
          [](In x) {
            if (composed_wanted()) return square(x);
            return fused(
                [](In v) {
                  const Tensor in = raw::contiguous(v);
                  Tensor y(v.shape(), v.dtype());
                  for (int64_t i = 0; i < v.numel(); ++i)
                    raw::write<double>(y)[i] = in.data<double>()[i] * in.data<double>()[i];
                  return y;
                },
                [](In dy, In, In v) { return dy * v * 2; }, x);
          }),

    layer({"dtype and precision", "softplus as log(1 + exp x)", {"f32 against f64", "not finite", "forward"}},
          {uniform({4, 5}, 80, 100)}, {{5}}, [](In x, In w) { return log(exp(x) + 1) * w; }),

    by_hand(
        {"dtype and precision", "scale C / 2 in integers in backward", {"constant factor"}, {"1/N"}},
        {{4, 5}}, {{5}}, [](In x, In w) { return x * w * (static_cast<double>(x.size(1)) / 2); },
        [](In dy, In, In x, In w) {
          const int64_t scale = x.size(1) / 2;
          return std::vector{dy * w * static_cast<double>(scale), dy * x * static_cast<double>(scale)};
        }),

    // --- right
    layer({"dtype and precision", "numbers of 1e6, a root and a logarithm"}, {uniform({4, 5}, 1e6, 3e6)},
          {{5}}, [](In x, In w) { return sqrt(x) * w + log(x); }),
});

}  // namespace isobar::counted_dtype
