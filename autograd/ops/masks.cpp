// Masks: comparisons of two tensors or of a tensor and a number; and, or, not of masks; whether any, or all, are
// true over axes. They are constants, so nothing is recorded. And where, which takes one:
//
//   y = a where mask, else b    da = dy where mask, else 0    db = 0 where mask, else dy
//
// Selected, never multiplied: NaN on the side that is not chosen does not reach y.
#include <algorithm>
#include <cmath>
#include <functional>

#include "../tape.h"
#include "axes.h"
#include "combine.h"

namespace isobar {
namespace {

// A float tensor is compared with a number in its own dtype, so that f32 0.1 equals 0.1. Integers and masks are
// compared as doubles, which is exact below 2^53.
template <class F>
Tensor compare_number(const char* op, const Tensor& x, double s, const F& f) {
  check(x.dtype() != Dtype::i64 || !(std::abs(s) >= 0x1p53) || std::isinf(s),
        "{}: an i64 and the double {} cannot be compared exactly; compare with a tensor of i64", op, s);
  const Tensor packed = raw::contiguous(x);
  Tensor y(x.shape(), Dtype::boolean);
  dispatch_any(x.dtype(), [&]<class T>() {
    using Common = std::conditional_t<std::is_floating_point_v<T>, T, double>;
    const auto of_element = [&f, number = static_cast<Common>(s)](T v) {
      return f(static_cast<Common>(v), number);
    };
    kernels::map_elements(x.numel(), raw::write<bool>(y), of_element, packed.data<T>());
  });
  return y;
}

template <class F>
Tensor compare(const char* op, const Operand& a, const Operand& b, const F& f) {
  check(a.tensor != nullptr || b.tensor != nullptr, "{}: wanted a tensor and a number, got two numbers", op);
  if (b.tensor == nullptr) return compare_number(op, *a.tensor, b.number, f);
  if (a.tensor == nullptr)
    return compare_number(op, *b.tensor, a.number, [&f](auto v, auto number) { return f(number, v); });
  check_one_dtype(op, *a.tensor, *b.tensor);
  return dispatch_any(a.tensor->dtype(),
                      [&]<class T>() { return combine<T, bool>(op, *a.tensor, *b.tensor, f); });
}

void check_mask(const char* op, const Tensor& mask) {
  check(mask.dtype() == Dtype::boolean, "{}: wanted a mask (bool), got {}; compare first, as in {}(x != 0)",
        op, mask.dtype(), op);
}

template <class F>
Tensor combine_masks(const char* op, const Tensor& a, const Tensor& b, const F& f) {
  check_mask(op, a);
  check_mask(op, b);
  return combine<bool, bool>(op, a, b, f);
}

// Whether f(begin, end) holds for the elements of each row.
template <class F>
Tensor reduce(const char* op, const Tensor& mask, const Dims& dims, bool keepdim, const F& f) {
  const Axes over(op, mask.shape(), dims);
  check_mask(op, mask);
  const Tensor packed = over.reduced_last(mask);
  Tensor y(keepdim ? over.kept : over.dropped, Dtype::boolean);
  const bool* from = packed.data<bool>();
  bool* to = raw::write<bool>(y);
  over.each_row(kernels::map_grain,
                [&](int64_t r) { to[r] = f(from + r * over.count, from + (r + 1) * over.count); });
  return y;
}

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

Tensor operator==(const Operand& a, const Operand& b) { return compare("equal", a, b, std::equal_to<>()); }
Tensor operator!=(const Operand& a, const Operand& b) {
  return compare("not_equal", a, b, std::not_equal_to<>());
}
Tensor operator<(const Operand& a, const Operand& b) { return compare("less", a, b, std::less<>()); }
Tensor operator<=(const Operand& a, const Operand& b) {
  return compare("less_equal", a, b, std::less_equal<>());
}
Tensor operator>(const Operand& a, const Operand& b) { return compare("greater", a, b, std::greater<>()); }
Tensor operator>=(const Operand& a, const Operand& b) {
  return compare("greater_equal", a, b, std::greater_equal<>());
}

Tensor operator&&(const Tensor& a, const Tensor& b) {
  return combine_masks("logical_and", a, b, std::logical_and<>());
}

Tensor operator||(const Tensor& a, const Tensor& b) {
  return combine_masks("logical_or", a, b, std::logical_or<>());
}

Tensor operator!(const Tensor& mask) {
  check_mask("logical_not", mask);
  const Tensor packed = raw::contiguous(mask);
  Tensor y(mask.shape(), Dtype::boolean);
  kernels::map_elements(mask.numel(), raw::write<bool>(y), std::logical_not<>(), packed.data<bool>());
  return y;
}

Tensor any(const Tensor& mask, const Dims& dims, KeepDim keepdim) {
  return reduce("any", mask, dims, keepdim,
                [](const bool* b, const bool* e) { return std::any_of(b, e, [](bool v) { return v; }); });
}

Tensor all(const Tensor& mask, const Dims& dims, KeepDim keepdim) {
  return reduce("all", mask, dims, keepdim,
                [](const bool* b, const bool* e) { return std::all_of(b, e, [](bool v) { return v; }); });
}

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
