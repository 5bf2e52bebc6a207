//   y = a where mask, else b    da = dy where mask, else 0    db = 0 where mask, else dy
// Selected, never multiplied: NaN on the side that is not chosen does not reach y.
#include "../../core/parallel.h"
#include "../ops.h"
#include "../tape.h"
#include "combine.h"

namespace isobar {
namespace {

// A tensor that is read along a contiguous y of `shape`: a single element with step 0, others with step 1.
struct Along {
  Tensor packed;
  int64_t step;

  Along(const Tensor& x, const Shape& shape)
      : packed(x.numel() == 1 ? x
                              : raw::contiguous(raw::as_strided(
                                    x, shape, broadcast_strides(x.shape(), x.strides(), shape)))),
        step(x.numel() == 1 ? 0 : 1) {}
};

Tensor selected(const Tensor& mask, const Tensor& a, const Tensor& b) {
  check(mask.dtype() == Dtype::boolean, "where: wanted a mask (bool), got {}; compare first, as in x != 0",
        mask.dtype());
  check_one_dtype("where", a, b);
  const Shape shape = broadcast("where", mask.shape(), broadcast("where", a.shape(), b.shape()));
  const Along condition(mask, shape), left(a, shape), right(b, shape);
  Tensor y(shape, a.dtype());
  dispatch_any(a.dtype(), [&]<class T>() {
    const bool* m = condition.packed.data<bool>();
    const T *p = left.packed.data<T>(), *q = right.packed.data<T>();
    T* out = raw::write<T>(y);
    const int64_t dm = condition.step, dp = left.step, dq = right.step;
    parallel_for(y.numel(), kernels::map_grain, [=](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) out[i] = m[i * dm] ? p[i * dp] : q[i * dq];
    });
  });
  return y;
}

}  // namespace

Tensor where(const Tensor& mask, const Operand& left, const Operand& right) {
  const Tensor a = tensor_of("where", left, right), b = tensor_of("where", right, left);
  Tensor y = selected(mask, a, b);
  if (!is_float(a.dtype())) return y;
  return record("where", y, {a, b, mask}, [mask](const Tensor& dy, Wants wants) {
    return std::array{wants[0] ? where(mask, dy, 0) : Tensor(), wants[1] ? where(mask, 0, dy) : Tensor(),
                      Tensor()};
  });
}

}  // namespace isobar
