// Comparisons: masks, which are constants. Nothing is recorded.
//
//   y = a < b, and so on, of two tensors or of a tensor and a number
#include <cmath>
#include <functional>

#include "../ops.h"
#include "combine.h"

namespace isobar {
namespace {

template <class F>
Tensor compare(const char* op, const Tensor& a, const Tensor& b, const F& f) {
  check_one_dtype(op, a, b);
  return dispatch_any(a.dtype(), [&]<class T>() { return combine<T, bool>(op, a, b, f); });
}

// A float tensor is compared in its own dtype, so that f32 0.1 equals 0.1. Integers and masks are compared as
// doubles, which is exact below 2^53.
template <class F>
Tensor compare(const char* op, const Tensor& x, double s, const F& f) {
  check(x.dtype() != Dtype::i64 || !(std::abs(s) >= 0x1p53) || std::isinf(s),
        "{}: an i64 and the double {} cannot be compared exactly; compare with a tensor of i64", op, s);
  const Tensor packed = raw::contiguous(x);
  Tensor y(x.shape(), Dtype::boolean);
  dispatch_any(x.dtype(), [&]<class T>() {
    using Common = std::conditional_t<std::is_floating_point_v<T>, T, double>;
    kernels::map_elements(
        x.numel(), packed.data<T>(), raw::write<bool>(y),
        [&f, number = static_cast<Common>(s)](T v) { return f(static_cast<Common>(v), number); });
  });
  return y;
}

}  // namespace

Tensor equal(const Tensor& a, const Tensor& b) { return compare("equal", a, b, std::equal_to<>()); }
Tensor not_equal(const Tensor& a, const Tensor& b) {
  return compare("not_equal", a, b, std::not_equal_to<>());
}
Tensor less(const Tensor& a, const Tensor& b) { return compare("less", a, b, std::less<>()); }
Tensor less_equal(const Tensor& a, const Tensor& b) {
  return compare("less_equal", a, b, std::less_equal<>());
}
Tensor greater(const Tensor& a, const Tensor& b) { return compare("greater", a, b, std::greater<>()); }
Tensor greater_equal(const Tensor& a, const Tensor& b) {
  return compare("greater_equal", a, b, std::greater_equal<>());
}

Tensor equal(const Tensor& x, double s) { return compare("equal", x, s, std::equal_to<>()); }
Tensor not_equal(const Tensor& x, double s) { return compare("not_equal", x, s, std::not_equal_to<>()); }
Tensor less(const Tensor& x, double s) { return compare("less", x, s, std::less<>()); }
Tensor less_equal(const Tensor& x, double s) { return compare("less_equal", x, s, std::less_equal<>()); }
Tensor greater(const Tensor& x, double s) { return compare("greater", x, s, std::greater<>()); }
Tensor greater_equal(const Tensor& x, double s) {
  return compare("greater_equal", x, s, std::greater_equal<>());
}

}  // namespace isobar
