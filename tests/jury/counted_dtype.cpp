// Wrong and tricky layers where the number format matters. x (N, C).
#include "../../core/raw.h"
#include "layers.h"

namespace isobar::counted_dtype {
namespace {

Tensor row_mean(In x) { return mean(x, {-1}, true); }

const bool listed = list_counted({
    by_hand(
        {"dtype and precision", "layer norm: backward's centring in f32", {"nearly right"}},
        {normal({4, 6}, 100, 1)}, {{6}}, [](In x, In w) { return layer_norm(x, 6, w, {}, 1e-5); },
        [](In dy, In, In x, In w) {
          const Tensor f = cast(x, Dtype::f32), c = cast(f - row_mean(f), x.dtype());
          const Tensor r = rsqrt(row_mean(square(c)) + 1e-5), h = c * r, dh = dy * w;
          return std::vector{r * (dh - row_mean(dh) - h * row_mean(dh * h)), dy * h};
        }),

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
        {"dtype and precision",
         "gelu: √(2/π) as 0.8 in backward",
         {"nearly right"},
         {"wrong factor", "constant factor"}},
        {{4, 5}}, {}, [](In x) { return gelu_tanh(x); },
        [](In dy, In, In x) {
          const Tensor t = tanh((x + pow(x, 3) * 0.044715) * 0.8);
          return dy * ((t + 1) * 0.5 + x * (1 - square(t)) * (square(x) * (3 * 0.044715) + 1) * (0.5 * 0.8));
        }),

    by_hand(
        {"dtype and precision", "dw of a centred input summed in f32", {"nearly right"}},
        {normal({5, 4}, 300, 1)}, {{3, 4}}, [](In x, In w) { return linear(x - 300.0, w); },
        [](In dy, In, In x, In w) {
          return std::vector{matmul(dy, w),
                             cast(matmul(transpose(cast(dy, Dtype::f32)), cast(x, Dtype::f32)) -
                                      reshape(sum(cast(dy, Dtype::f32), {0}), {3, 1}) * 300.0,
                                  x.dtype())};
        }),

    by_hand(
        {"dtype and precision", "scale C / 2 in integers in backward", {"constant factor"}, {"1/N"}},
        {{4, 5}}, {{5}}, [](In x, In w) { return x * w * (static_cast<double>(x.size(1)) / 2); },
        [](In dy, In, In x, In w) {
          const int64_t scale = x.size(1) / 2;
          return std::vector{dy * w * static_cast<double>(scale), dy * x * static_cast<double>(scale)};
        }),

    by_hand(
        {"dtype and precision", "sin: slope by three terms of a series", {"nearly right"}, {"wrong factor"}},
        {normal({4, 5}, 0, 0.3)}, {}, [](In x) { return sin(x); },
        [](In dy, In, In x) { return dy * (1 - square(x) / 2 + pow(x, 4) / 24); }),

    // --- right
    layer({"dtype and precision", "numbers of 1e6, a root and a logarithm"}, {uniform({4, 5}, 1e6, 3e6)},
          {{5}}, [](In x, In w) { return sqrt(x) * w + log(x); }),
    layer({"dtype and precision", "log1p and expm1 of 1e-8"}, {normal({4, 5}, 0, 1e-8)}, {{5}},
          [](In x, In w) { return log1p(x) * w + expm1(x); }),
});

}  // namespace
}  // namespace isobar::counted_dtype
