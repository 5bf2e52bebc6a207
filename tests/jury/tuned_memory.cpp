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

// Keeps what backward needs in the layer instead of in the closure.
struct KeepsTanh : Module {
  Tensor weight = ones(5).set_trainable(), t;

  Tensor forward(const Tensor& x) override {
    if (composed_wanted()) return tanh(x) * weight;
    Tensor y;
    {
      const NoTape pause;
      t = tanh(x).detach();
      y = (t * weight).detach();
    }
    return record("tanh", y, {x, weight}, [this, w = weight.detach()](In dy) {
      return std::vector{dy * w * (1 - square(t)), dy * t};
    });
  }
  void fields(Fields& f) override { f("weight", weight); }
};

const bool listed = list_tuned({
    layer({"strides and memory", "square: backward's loop takes dy as contiguous", {"strided input"}},
          {{3, 4}}, {},
          [](In x) {
            return fused([](In v) { return square(v); },
                         [](In dy, In, In v) {
                           return loop(dy, raw::contiguous(v), [](auto d, auto a) { return 2 * d * a; });
                         },
                         x);
          }),

    layer({"strides and memory", "relu in place", {"inputs untouched"}, {"repeated calls"}}, {{4, 5}}, {{5}},
          [](In x, In w) {
            Tensor in = x;
            if (in.is_contiguous())
              dispatch_float("relu", in.dtype(), [&]<class T>() {
                T* const numbers = raw::write<T>(in, "relu in place");
                for (int64_t i = 0; i < in.numel(); ++i) numbers[i] = std::max(numbers[i], T(0));
              });
            return in * w;
          }),

    module({"strides and memory", "tanh kept in the layer", {"used twice"}, {"another call"}}, {{4, 5}},
           [](const Rng&) { return std::make_unique<KeepsTanh>(); }),

    layer({"strides and memory", "a contiguous copy that no tape sees", {"detached"}}, {{4, 3}}, {{5, 3}},
          [](In x, In w) { return transpose(matmul(w, raw::contiguous(transpose(x)))); }),

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
