// Over the last dimension, seen as rows of a matrix, or over another one by transposing.
//
//   p = softmax(x)          dx = p · (dy − Σ dy · p)
//   y = log_softmax(x)      dx = dy − eʸ · Σ dy
#include "../../core/kernels/softmax.h"

#include "../ops.h"
#include "../tape.h"

namespace isobar {
namespace {

Tensor softmax_composed(const Tensor& x) {
  const Tensor e = exp(x - max(x, {-1}, true).detach());
  return e / sum(e, {-1}, true);
}

Tensor log_softmax_composed(const Tensor& x) {
  const Tensor shifted = x - max(x, {-1}, true).detach();
  return shifted - log(sum(exp(shifted), {-1}, true));
}

int64_t rows_of(const Tensor& x) { return x.numel() / std::max<int64_t>(x.size(-1), 1); }

// Both ops: forward(rows, columns, x, y), and backward(rows, columns, y, dy, dx).
template <class Forward, class Backward>
Tensor over_rows(OpName op, const Tensor& x, Tensor (*composed)(const Tensor&), const Forward& forward,
                 const Backward& backward) {
  check(x.ndim() >= 1, "{}: wanted at least one dimension, got {}", op, x.shape());
  if (composed_wanted() && x.numel() > 0) return composed(x);
  const Tensor packed = raw::contiguous(x);
  Tensor y(x.shape(), x.dtype());
  dispatch_float(op, x.dtype(),
                 [&]<class T>() { forward(rows_of(x), x.size(-1), packed.data<T>(), raw::write<T>(y)); });
  return record(op, y, {x}, [op, y = y.detach(), backward](Tensor upstream) {
    const Tensor dy = raw::contiguous(std::move(upstream));
    Tensor dx = room_for_gradient(dy);
    dispatch_float(op, y.dtype(), [&]<class T>() {
      backward(rows_of(y), y.size(-1), y.data<T>(), dy.data<T>(), raw::write<T>(dx));
    });
    return dx;
  });
}

}  // namespace

Tensor softmax(const Tensor& x, int dim) {
  if (dim != -1) {
    const int d = x.shape().index(dim, "softmax");
    return transpose(softmax(transpose(x, d, -1)), d, -1);
  }
  return over_rows(
      "softmax", x, softmax_composed, [](auto... a) { kernels::softmax(a...); },
      [](auto... a) { kernels::softmax_backward(a...); });
}
Tensor log_softmax(const Tensor& x, int dim) {
  if (dim != -1) {
    const int d = x.shape().index(dim, "log_softmax");
    return transpose(log_softmax(transpose(x, d, -1)), d, -1);
  }
  return over_rows(
      "log_softmax", x, log_softmax_composed, [](auto... a) { kernels::log_softmax(a...); },
      [](auto... a) { kernels::log_softmax_backward(a...); });
}

}  // namespace isobar
