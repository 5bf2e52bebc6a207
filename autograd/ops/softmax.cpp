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

}  // namespace

Tensor softmax(const Tensor& x) {
  check(x.ndim() >= 1, "softmax: wanted at least one dimension, got {}", x.shape());
  if (composed_wanted() && x.numel() > 0) return softmax_composed(x);
  const Tensor packed = raw::contiguous(x);
  Tensor p(x.shape(), x.dtype());
  dispatch_float("softmax", x.dtype(), [&]<class T>() {
    kernels::softmax(rows_of(x), x.size(-1), packed.data<T>(), raw::write<T>(p));
  });
  return record("softmax", p, {x}, [p = p.detach()](Tensor upstream) {
    const Tensor dy = raw::contiguous(std::move(upstream));
    Tensor dx = room_for_gradient(dy);
    dispatch_float("softmax", p.dtype(), [&]<class T>() {
      kernels::softmax_backward(rows_of(p), p.size(-1), p.data<T>(), dy.data<T>(), raw::write<T>(dx));
    });
    return dx;
  });
}

Tensor log_softmax(const Tensor& x) {
  check(x.ndim() >= 1, "log_softmax: wanted at least one dimension, got {}", x.shape());
  if (composed_wanted() && x.numel() > 0) return log_softmax_composed(x);
  const Tensor packed = raw::contiguous(x);
  Tensor y(x.shape(), x.dtype());
  dispatch_float("log_softmax", x.dtype(), [&]<class T>() {
    kernels::log_softmax(rows_of(x), x.size(-1), packed.data<T>(), raw::write<T>(y));
  });
  return record("log_softmax", y, {x}, [y = y.detach()](Tensor upstream) {
    const Tensor dy = raw::contiguous(std::move(upstream));
    Tensor dx = room_for_gradient(dy);
    dispatch_float("log_softmax", y.dtype(), [&]<class T>() {
      kernels::log_softmax_backward(rows_of(y), y.size(-1), y.data<T>(), dy.data<T>(), raw::write<T>(dx));
    });
    return dx;
  });
}

Tensor softmax(const Tensor& x, int dim) { return transpose(softmax(transpose(x, dim, -1)), dim, -1); }
Tensor log_softmax(const Tensor& x, int dim) {
  return transpose(log_softmax(transpose(x, dim, -1)), dim, -1);
}

}  // namespace isobar
