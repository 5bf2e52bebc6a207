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
Tensor reduce(const Tensor& mask, const Axes& over, bool keepdim, const F& f) {
  const Tensor packed = over.reduced_last(mask);
  Tensor y(keepdim ? over.kept : over.dropped, Dtype::boolean);
  const bool* from = packed.data<bool>();
  bool* to = raw::write<bool>(y);
  parallel_for(over.rows, std::max<int64_t>(1, kernels::map_grain / std::max<int64_t>(over.count, 1)),
               [&](int64_t begin, int64_t end) {
                 for (int64_t r = begin; r < end; ++r)
                   to[r] = f(from + r * over.count, from + (r + 1) * over.count);
               });
  return y;
}

Tensor any_over(const Tensor& mask, const Axes& over, bool keepdim) {
  check_mask("any", mask);
  return reduce(mask, over, keepdim,
                [](const bool* b, const bool* e) { return std::any_of(b, e, [](bool v) { return v; }); });
}

Tensor all_over(const Tensor& mask, const Axes& over, bool keepdim) {
  check_mask("all", mask);
  return reduce(mask, over, keepdim,
                [](const bool* b, const bool* e) { return std::all_of(b, e, [](bool v) { return v; }); });
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

Tensor any(const Tensor& mask) { return any_over(mask, Axes(mask.shape()), false); }
Tensor any(const Tensor& mask, const AxisList& axes, KeepDim keepdim) {
  return any_over(mask, Axes(mask.shape(), axes), keepdim);
}

Tensor all(const Tensor& mask) { return all_over(mask, Axes(mask.shape()), false); }
Tensor all(const Tensor& mask, const AxisList& axes, KeepDim keepdim) {
  return all_over(mask, Axes(mask.shape(), axes), keepdim);
}

}  // namespace isobar
