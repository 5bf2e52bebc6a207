// Variance and standard deviation over axes; n elements, c the correction.
//
//   var = Σ (x − mean)² / (n − c)    dx = 2 dy (x − mean) / (n − c)
//   std_dev = √var                   dvar = dy / (2 std_dev), 0 where std_dev = 0; no second derivative there
//
// std_dev has the range of x, which its var leaves: it is the root of a scaled sum (core/kernels/squares.h).
#include "../../core/kernels/moments.h"

#include <algorithm>
#include <cmath>

#include "../tape.h"
#include "axes.h"
#include "no_slope.h"
#include "tiny.h"

namespace isobar {
namespace {

// Centred twice: far from zero, the rounding of the first mean exceeds the spread of the numbers.
Tensor centred(const Tensor& x, const Axes& over) {
  const Tensor near_zero = x - mean_over(x, over, true);
  return near_zero - mean_over(near_zero, over, true);
}

// As in PyTorch, never negative: 0 / 0 for too few elements.
double divisor_of(const Axes& over, double correction) {
  return std::max(0.0, static_cast<double>(over.count) - correction);
}

// The rows of x, and their means and variances, or the roots of these.
struct Spread {
  enum class Result { variance, root };
  Tensor packed, values, means;

  Spread(const char* op, const Tensor& x, const Axes& over, double divisor, Result result)
      : packed(over.reduced_last(x).detach()), values(over.kept, x.dtype()), means(over.kept, Dtype::f64) {
    dispatch_float(op, x.dtype(), [&]<class T>() {
      const auto root = [divisor](const kernels::Squares& all) {
        const T v = static_cast<T>(all.sum / divisor);  // of v in x's dtype, where that holds it
        return all.scale == 1 && std::isnormal(v) ? std::sqrt(v) : static_cast<T>(all.root_of(divisor));
      };
      const auto variance = [divisor](const kernels::Squares& all) {
        return all.sum / divisor / all.scale / all.scale;
      };
      const auto fill = [&](const auto& value) {
        kernels::variance(over.rows, over.count, packed.data<T>(), raw::write<T>(values),
                          raw::write<double>(means), value);
      };
      if (result == Result::root)
        fill(root);
      else
        fill(variance);
    });
  }

  // dx, from dvar.
  Tensor gradient(const Tensor& upstream, const Axes& over, double divisor, const Shape& from) const {
    const Tensor dvar = raw::contiguous(upstream);
    Tensor dx(packed.shape(), packed.dtype());
    dispatch_float("var", packed.dtype(), [&]<class T>() {
      kernels::variance_backward(over.rows, over.count, packed.data<T>(), divisor, means.data<double>(),
                                 dvar.data<T>(), raw::write<T>(dx));
    });
    return over.in_order(dx, from);
  }
};

// dvar for a given dy.
Tensor slope(const Tensor& dy, const Tensor& y) {
  const Tensor constant = y == 0;
  return where(constant, 0, dy / (where(constant, 1, y) * 2));
}

// x; a second derivative by it throws.
Tensor once_differentiable(const Tensor& x) {
  return record({"identity", Node::Kind::view}, x.detach(), {x}, [](const Tensor& dx) {
    return Tape::active() == nullptr
               ? dx
               : no_slope(
                     dx,
                     "backward of std_dev: a standard deviation is 0, where it has no second derivative; write "
                     "var(x) for its square");
  });
}

// Of numbers divided by a power of two near y, which is exact, so that no square leaves the range. It is at least
// 2^−100, or 2^−900 for f64, so that no slope does.
Tensor std_dev_composed(const Tensor& x, const Axes& over, double divisor, const Tensor& y) {
  Tensor scale = raw::clone(y);
  dispatch_float("std_dev", y.dtype(), [&]<class T>() {
    T* to = raw::write<T>(scale);
    constexpr int least = std::is_same_v<T, float> ? -100 : -900;
    for (int64_t i = 0; i < y.numel(); ++i)
      to[i] = std::isfinite(to[i]) && to[i] > 0 ? std::ldexp(T{1}, std::max(std::ilogb(to[i]), least)) : T{1};
  });
  const Tensor v = sum_over(square(centred(x, over) / scale), over, true) / divisor;
  const Tensor constant = v == 0;
  return where(constant, 0, sqrt(where(constant, 1, v))) * scale;
}

}  // namespace

Tensor var(const Tensor& x, const Dims& dims, KeepDim keepdim, double correction) {
  const Axes over("var", x.shape(), dims);
  const double divisor = divisor_of(over, correction);
  if (composed_wanted()) return sum_over(square(centred(x, over)), over, keepdim) / divisor;

  const Spread spread("var", x, over, divisor, Spread::Result::variance);
  const Tensor y =
      record("var", spread.values, {x}, [spread, from = x.shape(), over, divisor](const Tensor& dy) {
        return spread.gradient(dy, over, divisor, from);
      });
  return keepdim ? y : reshape(y, over.dropped);
}

Tensor std_dev(const Tensor& x, const Dims& dims, KeepDim keepdim, double correction) {
  const Axes over("std_dev", x.shape(), dims);
  const double divisor = divisor_of(over, correction);
  const Spread spread("std_dev", x, over, divisor, Spread::Result::root);
  Tensor y = spread.values;
  if (composed_wanted())
    y = std_dev_composed(any(y == 0).item() == 0 ? x : once_differentiable(x), over, divisor, y);
  else
    y = record("std_dev", y, {x},
               [spread, y = y.detach(), from = x.shape(), over, divisor](const Tensor& dy) {
                 const Tensor scale = scale_of_tiny(y);
                 if (!scale.defined()) return spread.gradient(slope(dy, y), over, divisor, from);
                 return spread.gradient(slope(dy, y * scale), over, divisor, from) * scale;
               });
  return keepdim ? y : reshape(y, over.dropped);
}

}  // namespace isobar
