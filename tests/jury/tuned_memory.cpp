// Wrong and tricky layers where strides and memory matter: loops of one's own, views, values written in
// place.
#include "../../core/raw.h"
#include "layers.h"

namespace isobar::tuned_memory {

// y[i] = f(a[i], b[i]) for tensors that are stored in row-major order, and for no others.
template <class F>
Tensor loop(In a, In b, const F& f) {
  Tensor y(a.shape(), a.dtype());
  dispatch_float("loop", a.dtype(), [&]<class T>() {
    for (int64_t i = 0; i < a.numel(); ++i) raw::write<T>(y)[i] = f(a.data<T>()[i], b.data<T>()[i]);
  });
  return y;
}

const bool listed = list_tuned({
    by_hand(
        {"strides and memory",
         "permuted once more instead of back",
         {"wrong shape", "misplaced", "transposed"}},
        {{2, 3, 4}}, {},
        [](In x) {
          return permute(x, {0, 2, 1}) * 2;
        },
        [](In dy, In, In) {
          return permute(dy, {1, 2, 0}) * 2;
        }),

    // --- right
    layer({"strides and memory", "loops that ask for contiguous numbers"}, {{3, 4}}, {{4}},
          [](In x, In w) {
            if (composed_wanted()) return square(x) * w;
            const Tensor all = contiguous(broadcast_to(w, x.shape()));
            return fused(
                [](In v, In s) {
                  return loop(raw::contiguous(v), raw::contiguous(s),
                              [](auto a, auto b) { return a * a * b; });
                },
                [](In dy, In, In v, In s) {
                  const Tensor d = raw::contiguous(dy);
                  const Tensor ds = loop(d, raw::contiguous(v * s), [](auto a, auto b) { return 2 * a * b; });
                  return std::vector{
                      ds, loop(d, raw::contiguous(square(v)), [](auto a, auto b) { return a * b; })};
                },
                x, all);
          }),
});

}  // namespace isobar::tuned_memory
