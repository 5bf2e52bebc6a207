// Wrong and tricky layers where strides and memory matter: loops of one's own, views, values written in
// place.
#include "../../core/raw.h"
#include "layers.h"

namespace isobar::counted_memory {

// Writes its result into one buffer, which the next call overwrites.
struct ReusesBuffer : Module {
  Tensor weight = ones(5).set_trainable(), buffer;

  Tensor forward(const Tensor& x) override {
    if (composed_wanted()) return square(x) * weight;
    {
      const NoTape pause;
      const Tensor y = square(x) * weight;
      if (!buffer.defined() || buffer.shape() != y.shape() || buffer.dtype() != y.dtype())
        buffer = raw::clone(y);
      else
        assign(buffer, y);
    }
    return record("square", reshape(buffer, x.shape()).detach(), {x, weight},
                  [x = x.detach(), w = weight.detach()](In dy) {
                    return std::vector{dy * w * x * 2, dy * square(x)};
                  });
  }
  void fields(Fields& f) override { f("weight", weight); }
};

const bool listed = list_counted({
    layer({"strides and memory", "cube: forward's loop takes x as contiguous", {"strided input"}}, {{3, 4}},
          {},
          [](In x) {
            if (composed_wanted()) return pow(x, 3);
            return fused(
                [](In v) {
                  Tensor y(v.shape(), v.dtype());
                  dispatch_float("cube", v.dtype(), [&]<class T>() {
                    for (int64_t i = 0; i < v.numel(); ++i) {
                      const T a = v.data<T>()[i];
                      raw::write<T>(y)[i] = a * a * a;
                    }
                  });
                  return y;
                },
                [](In dy, In, In v) { return dy * square(v) * 3; }, x);
          }),

    // dbias[j] = Σ dy[i, j]
    layer({"strides and memory", "bias: dy summed by a loop over its numbers", {"strided input"}}, {{4, 3}},
          {{3}},
          [](In x, In b) {
            return fused([](In v, In c) { return v + c; },
                         [](In dy, In, In v, In) {
                           Tensor db = raw::clone(zeros({3}, v.dtype()));
                           dispatch_float("bias", v.dtype(), [&]<class T>() {
                             for (int64_t i = 0; i < dy.size(0); ++i)
                               for (int64_t j = 0; j < 3; ++j)
                                 raw::write<T>(db)[j] += dy.data<T>()[i * 3 + j];
                           });
                           return std::vector{dy, db};
                         },
                         x, b);
          }),

    module({"strides and memory",
            "one buffer for the results of all calls",
            {"used twice", "repeated calls"},
            {"another call", "inputs untouched", "recompute"}},
           {{4, 5}}, [](const Rng&) { return std::make_unique<ReusesBuffer>(); }),

    by_hand(
        {"strides and memory",
         "cube of extents: permuted once more instead of back",
         {"misplaced", "transposed"},
         {"wrong axis", "wrong shape"}},
        {{3, 3, 3}}, {},
        [](In x) {
          return permute(x, {1, 2, 0});
        },
        [](In dy, In, In) {
          return permute(dy, {1, 2, 0});
        }),

    // --- right
    layer({"strides and memory", "views of views inside"}, {{4, 6}}, {{3}},
          [](In x, In w) {
            const Tensor odd = permute(reshape(flip(x, {1}), {x.size(0), 3, 2}), {2, 0, 1});
            return transpose(reshape(slice(odd, 0, 1, 2), {x.size(0), 3}) * w +
                                 reshape(slice(odd, 0, 0, 1), {x.size(0), 3}),
                             0, 1);
          }),
});

}  // namespace isobar::counted_memory
