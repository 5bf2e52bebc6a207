// Masks from masks, all constants: and, or, not; whether any, or all, are true over axes.
#include <algorithm>

#include "axes.h"
#include "combine.h"

namespace isobar {
namespace {

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
Tensor reduce(const char* op, const Tensor& mask, const AxisList& axes, bool keepdim, const F& f) {
  const Axes over(mask.shape(), axes);
  check_mask(op, mask);
  const Tensor packed = over.reduced_last(mask);
  Tensor y(keepdim ? over.kept : over.dropped, Dtype::boolean);
  const bool* from = packed.data<bool>();
  bool* to = raw::write<bool>(y);
  over.each_row(kernels::map_grain,
                [&](int64_t r) { to[r] = f(from + r * over.count, from + (r + 1) * over.count); });
  return y;
}

}  // namespace

Tensor logical_and(const Tensor& a, const Tensor& b) {
  return combine_masks("logical_and", a, b, [](bool p, bool q) { return p && q; });
}

Tensor logical_or(const Tensor& a, const Tensor& b) {
  return combine_masks("logical_or", a, b, [](bool p, bool q) { return p || q; });
}

Tensor logical_not(const Tensor& mask) {
  check_mask("logical_not", mask);
  const Tensor packed = raw::contiguous(mask);
  Tensor y(mask.shape(), Dtype::boolean);
  kernels::map_elements(mask.numel(), packed.data<bool>(), raw::write<bool>(y), [](bool v) { return !v; });
  return y;
}

Tensor any(const Tensor& mask, const AxisList& axes, KeepDim keepdim) {
  return reduce("any", mask, axes, keepdim,
                [](const bool* b, const bool* e) { return std::any_of(b, e, [](bool v) { return v; }); });
}

Tensor all(const Tensor& mask, const AxisList& axes, KeepDim keepdim) {
  return reduce("all", mask, axes, keepdim,
                [](const bool* b, const bool* e) { return std::all_of(b, e, [](bool v) { return v; }); });
}

}  // namespace isobar
