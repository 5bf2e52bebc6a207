//   y = (Σ |x|^p)^(1/p)    dx = dy · sign(x) (|x| / y)^(p − 1), 0 where y = 0; no second derivative there
// For p = 2 that is x · dy / y, of x and y times a power of two where dy / y could leave the range.
//   p = 1: Σ |x|;  p = ∞: max |x|, both by composition
// The value is computed in double, and scaled where its powers would overflow or vanish.
#include <cmath>

#include "../../core/kernels/functions.h"
#include "../../core/kernels/reduce.h"
#include "../../core/kernels/squares.h"
#include "../tape.h"
#include "axes.h"
#include "combine.h"
#include "no_slope.h"
#include "tiny.h"

namespace isobar {
namespace {

// Sums of powers that leave the range of doubles are computed again, of numbers near one.
template <class T>
double length(int64_t n, const T* x, double p, const auto& sum) {
  const auto number = [x](int64_t i) { return x[i]; };
  if (p == 2) return kernels::squares(n, sum, number).root();
  const auto powers = [&](double scale) {
    return sum(
        n, [x, p, scale](int64_t i) { return kernels::pow(std::abs(static_cast<double>(x[i])) * scale, p); });
  };
  const double all = powers(1);
  const double scale = kernels::squares_fit(all) ? 1 : kernels::scale_for(kernels::largest_of(n, number));
  return scale == 1 ? kernels::pow(all, 1 / p) : kernels::pow(powers(scale), 1 / p) / scale;
}

// |x|^q, or sign(x) |x|^q where it is odd; the slope of either is q times the other one of q − 1. So all derivatives
// at 0 are right, but those of an exponent below 0, which are infinite and refused.
Tensor power(const Tensor& x, double q, bool odd) {
  Tensor y = map_elements("norm", x, [q, odd](auto v) {
    const auto size = kernels::pow(std::abs(v), static_cast<decltype(v)>(q));
    return !odd || v > 0 ? size : v < 0 ? -size : v;
  });
  return record("power", y, {x}, [x, q, odd](const Tensor& dy) {
    if (q == 0) return Tensor();
    check(
        q >= 1 || any(x == 0).item() == 0,
        "backward of norm: an element is 0, where a norm whose p is no integer has no derivatives above the p-th; "
        "leave zeros out, or add a small number to each |x|");
    return dy * (power(x, q - 1, !odd) * q);
  });
}

// dx for a dy and y with extents of one. Divisions by a length of 0 are replaced before they happen, not
// after: their own slopes would be NaN.
Tensor slope(const Tensor& x, const Tensor& y, const Tensor& dy, double p) {
  const Tensor nothing = y == 0, divisor = where(nothing, 1, y);
  if (p == 2) {
    const Tensor scale = scale_of_tiny(y);
    return scale.defined() ? x * scale * where(nothing, 0, dy / (divisor * scale))
                           : x * where(nothing, 0, dy / divisor);
  }
  if (Tape::active() != nullptr) return power(x / divisor, p - 1, true) * where(nothing, 0, dy);
  const Tensor ratio = where(x == 0, 1, abs(x) / divisor);
  return sign(x) * pow(ratio, p - 1) * where(nothing, 0, dy);
}

}  // namespace

Tensor norm(const Tensor& x, NormOrder order, const Dims& dims, KeepDim keepdim) {
  const double p = order;
  const Axes over("norm", x.shape(), dims);
  if (p == 1) return sum(abs(x), dims, keepdim);
  if (p == INFINITY) return max(abs(x), dims, keepdim);
  check(p > 0, "norm: wanted p > 0, got {}", p);
  const Tensor packed = over.reduced_last(x);
  Tensor y(over.kept, x.dtype());
  dispatch_float("norm", x.dtype(), [&]<class T>() {
    const T* from = packed.data<T>();
    T* to = raw::write<T>(y);
    kernels::for_rows(over.rows, over.count, [&](int64_t r, const auto& sum) {
      to[r] = static_cast<T>(length(over.count, from + r * over.count, p, sum));
    });
  });
  y = record("norm", y, {x}, [x, y, p](const Tensor& dy) {
    const Tensor dx = slope(x, y, dy, p);
    if (Tape::active() == nullptr || any(y == 0).item() == 0) return dx;
    return no_slope(
        dx,
        "backward of norm: a norm is 0, where it has no second derivative; write sum(square(x)) for the "
        "square of a norm");
  });
  return keepdim ? y : reshape(y, over.dropped);
}

}  // namespace isobar
