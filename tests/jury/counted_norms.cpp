// Wrong and tricky norms. x (N, C) or (N, C, L); h is the normalized x, r the reciprocal of the deviation.
#include "layers.h"

namespace isobar::counted_norms {

Tensor row_mean(In x) { return mean(x, {-1}, true); }

struct Row {
  Tensor r, h;
};
Row scaled(In x, double eps = 1e-5) {
  const Tensor r = rsqrt(row_mean(square(x)) + eps);
  return {r, x * r};
}
Tensor rms_norm_dx(In dh, const Row& row) { return row.r * (dh - row.h * row_mean(dh * row.h)); }

const bool listed = list_counted({
    layer({"norms", "rms norm: composed form with eps outside of the root", {"composed form"}}, {{4, 6}},
          {{6}},
          [](In x, In w) {
            if (composed_wanted()) return x / (sqrt(row_mean(square(x))) + 1e-2) * w;
            return fused([](In v, In s) { return rms_norm(v, 6, s, 1e-2); },
                         [](In dy, In, In v, In s) {
                           const Row row = scaled(v, 1e-2);
                           return std::vector{rms_norm_dx(dy * s, row), dy * row.h};
                         },
                         x, w);
          }),

    // --- right
    layer({"norms", "rms norm of numbers of 1e-8"}, {normal({4, 5}, 0, 1e-8)}, {{5}},
          [](In x, In w) { return rms_norm(x, 5, w, 1e-5); }),
});

}  // namespace isobar::counted_norms
