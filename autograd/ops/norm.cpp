// LayerNorm and RMSNorm over the last dimensions of x, seen as rows of C elements. h is the normalized value,
// u = dy · weight.
//
//   layer_norm:  r = 1/√(var + eps),      h = (x − mean) r    dx = r (u − mean(u) − h mean(u h))
//   rms_norm:    r = 1/√(mean x² + eps),  h = x r             dx = r (u − h mean(u h))
//   y = h · weight + bias      dweight = Σ dy h      dbias = Σ dy
//
// Ba et al. 2016 (LayerNorm); Zhang & Sennrich 2019 (RMSNorm, and pRMSNorm, whose r sees the first k elements
// only). They are one family: RMSNorm is LayerNorm without the mean.
#include "../../core/kernels/norm.h"

#include "../ops.h"
#include "../tape.h"
#include "checks.h"

namespace isobar {
namespace {

struct Rows {
  int64_t count, columns;

  Rows(const char* op, const Tensor& x, const Shape& normalized, const Tensor& weight, const Tensor& bias) {
    check(normalized.ndim() >= 1 && normalized.ndim() <= x.ndim() &&
              x.shape().last(normalized.ndim()) == normalized,
          "{}: normalized_shape {} must be the last dimensions of x {}", op, normalized, x.shape());
    columns = normalized.numel();
    count = columns > 0 ? x.numel() / columns : 0;
    check_parameter(op, "weight", weight, normalized, x);
    check_parameter(op, "bias", bias, normalized, x);
  }
};

template <class T>
const T* data_or_null(const Tensor& x) {
  return x.defined() ? x.data<T>() : nullptr;
}
Tensor packed_or_none(const Tensor& x) { return x.defined() ? raw::contiguous(x) : x; }

Tensor apply_affine(Tensor h, const Tensor& weight, const Tensor& bias) {
  if (weight.defined()) h = h * weight;
  return bias.defined() ? h + bias : h;
}

// x as (N, C).
Tensor flat_rows(const Tensor& x, const Rows& rows) { return reshape(x, {rows.count, rows.columns}); }

// A power of two for each row, (N, 1), that keeps the squares of all rows in the range of x's dtype; undefined
// where they stay there as they are.
Tensor scales_of(const Tensor& flat, bool centred, int64_t counted, double eps) {
  if (flat.numel() == 0) return {};
  const NoTape pause;
  const Tensor x = flat.detach();
  const Tensor off = centred ? x - mean(x, {1}, true) : slice(x, 1, 0, counted);
  Tensor scales = max(abs(off), {1}, true);
  bool extreme = false;
  dispatch_float("norm", x.dtype(), [&]<class T>() {
    constexpr int reach = std::numeric_limits<T>::max_exponent * 3 / 8;
    T* const s = raw::write<T>(scales);
    for (int64_t i = 0; i < scales.numel(); ++i) {
      const double largest = std::max(static_cast<double>(s[i]), std::sqrt(eps));
      const bool fits = std::abs(std::logb(largest)) < reach;
      s[i] = fits ? T(1) : static_cast<T>(std::min(kernels::scale_for(largest), std::ldexp(1.0, 2 * reach)));
      extreme |= s[i] != T(1);
    }
  });
  return extreme ? scales : Tensor();
}

Tensor layer_norm_composed(const Tensor& x, const Rows& rows, const Tensor& weight, const Tensor& bias,
                           double eps) {
  Tensor flat = flat_rows(x, rows), shift;
  const Tensor scales = scales_of(flat, true, rows.columns, eps);
  if (scales.defined()) flat = flat * scales, shift = scales * eps * scales;
  const Tensor off = flat - mean(flat, {1}, true), spread = var(flat, {1}, true, 0);
  const Tensor h = off / sqrt(scales.defined() ? spread + shift : spread + eps);
  return apply_affine(reshape(h, x.shape()), weight, bias);
}

Tensor rms_norm_composed(const Tensor& x, const Rows& rows, const Tensor& weight, double eps,
                         int64_t counted) {
  Tensor flat = flat_rows(x, rows), shift;
  const Tensor scales = scales_of(flat, false, counted, eps);
  if (scales.defined()) flat = flat * scales, shift = scales * eps * scales;
  const Tensor spread = mean(square(slice(flat, 1, 0, counted)), {1}, true);
  const Tensor h = flat / sqrt(scales.defined() ? spread + shift : spread + eps);
  return apply_affine(reshape(h, x.shape()), weight, {});
}

// What backward needs.
struct NormNode {
  Tensor x, weight, mean, r;  // contiguous; weight may be undefined
  Rows rows;
  bool centred;
  int64_t counted;
  Shape parameter_shape;

  std::array<Tensor, 3> gradients(Tensor upstream, Wants wants) const {
    const Tensor dy = raw::contiguous(std::move(upstream));
    std::array<Tensor, 3> result;
    if (wants[0]) result[0] = room_for_gradient(dy);
    if (wants[1]) result[1] = Tensor(parameter_shape, x.dtype());
    if (wants[2]) result[2] = Tensor(parameter_shape, x.dtype());
    dispatch_float("norm", x.dtype(), [&]<class T>() {
      const auto target = [&](int i) { return wants[i] ? raw::write<T>(result[i]) : nullptr; };
      kernels::NormBackward<T>{.rows = rows.count,
                               .columns = rows.columns,
                               .counted = counted,
                               .centred = centred,
                               .x = x.data<T>(),
                               .weight = data_or_null<T>(weight),
                               .dy = dy.data<T>(),
                               .mean = mean.data<double>(),
                               .r = r.data<double>(),
                               .dx = target(0),
                               .dweight = target(1),
                               .dbias = target(2)}();
    });
    return result;
  }
};

// layer_norm (centred) and rms_norm.
Tensor normalize_rows(OpName name, const Tensor& input, const Rows& rows, const Tensor& weight_in,
                      const Tensor& bias_in, double eps, bool centred, int64_t counted) {
  const Tensor x = raw::contiguous(input), weight = packed_or_none(weight_in), bias = packed_or_none(bias_in);
  Tensor y(x.shape(), x.dtype()), mean(Shape{rows.count}, Dtype::f64), r(Shape{rows.count}, Dtype::f64);
  dispatch_float(name, x.dtype(), [&]<class T>() {
    // A bias without a weight gets a weight of one here, so that the kernel knows three cases only.
    const Tensor scale = bias.defined() && !weight.defined() ? ones(bias.shape(), x.dtype()) : weight;
    kernels::NormForward<T>{.rows = rows.count,
                            .columns = rows.columns,
                            .counted = counted,
                            .centred = centred,
                            .eps = eps,
                            .x = x.data<T>(),
                            .weight = data_or_null<T>(scale),
                            .bias = data_or_null<T>(bias),
                            .y = raw::write<T>(y),
                            .mean = raw::write<double>(mean),
                            .r = raw::write<double>(r)}();
  });
  const Tensor& parameter = weight_in.defined() ? weight_in : bias_in;
  const NormNode node{x.detach(), weight,  mean,    r,
                      rows,       centred, counted, parameter.defined() ? parameter.shape() : Shape()};
  return record(name, y, {input, weight_in, bias_in},
                [node](Tensor upstream, Wants wants) { return node.gradients(std::move(upstream), wants); });
}

}  // namespace

Tensor layer_norm(const Tensor& x, const Shape& normalized_shape, const Tensor& weight, const Tensor& bias,
                  double eps) {
  const Rows rows("layer_norm", x, normalized_shape, weight, bias);
  check_eps("layer_norm", eps);
  if (composed_wanted()) return layer_norm_composed(x, rows, weight, bias, eps);
  return normalize_rows("layer_norm", x, rows, weight, bias, eps, true, rows.columns);
}

Tensor rms_norm(const Tensor& x, const Shape& normalized_shape, const Tensor& weight, double eps,
                int64_t partial) {
  const Rows rows("rms_norm", x, normalized_shape, weight, {});
  check_eps("rms_norm", eps);
  check(partial >= 0 && partial <= rows.columns,
        "rms_norm: partial must be 0 to {} for normalized_shape {}, got {}", rows.columns, normalized_shape,
        partial);
  const int64_t counted = partial > 0 ? partial : rows.columns;
  if (composed_wanted()) return rms_norm_composed(x, rows, weight, eps, counted);
  return normalize_rows("rms_norm", x, rows, weight, {}, eps, false, counted);
}

}  // namespace isobar
