// Elementwise replacements for normalization: y = t(x; p) · weight + bias with one learned number p.
//
//   dyt        t = tanh(alpha x)                 p = alpha      Zhu et al. 2025
//   dyt_sqrtd  t = √d tanh(inv_rho x / √d)       p = inv_rho    the solution of RMSNorm's diagonal gradient
//   dyisru     t = √d x / √(x² + C), C = eᵖ      p = log_c      Stollenwerk 2025, arXiv 2503.21708
//
//   u = dy · weight     dx = u dt/dx     dp = Σ u dt/dp     dweight = Σ dy t     dbias = Σ dy
// The slopes are beside the curves in core/kernels/pointwise_norm.h. d is the number of normalized
// elements.
#include <cmath>

#include "../../core/kernels/pointwise_norm.h"
#include "../../core/raw.h"
#include "../ops.h"
#include "../tape.h"

namespace isobar {
namespace {

void check_parameters(const char* op, const Tensor& x, const char* name, const Tensor& p,
                      const Tensor& weight, const Tensor& bias) {
  check(p.shape() == Shape{1}, "{}: {} must be [1], got {}", op, name, p.shape());
  check(weight.defined() && weight.ndim() <= x.ndim() && x.shape().last(weight.ndim()) == weight.shape(),
        "{}: weight {} must have the last dimensions of x {}", op,
        weight.defined() ? weight.shape() : Shape(), x.shape());
  check(!bias.defined() || bias.shape() == weight.shape(), "{}: bias must be {} for x {}, got {}", op,
        weight.shape(), x.shape(), bias.defined() ? bias.shape() : Shape());
  for (const auto& [role, parameter] :
       {std::pair{name, &p}, std::pair{"weight", &weight}, std::pair{"bias", &bias}})
    check(!parameter->defined() || parameter->dtype() == x.dtype(),
          "{}: x is {} but {} is {}; convert one with cast()", op, x.dtype(), role,
          parameter->defined() ? parameter->dtype() : x.dtype());
}

// The kernels for any curve; `make_curve` builds it for an element type from p and √d.
template <class MakeCurve>
Tensor pointwise_norm(const char* name, const Tensor& input, const Tensor& p, const Tensor& weight_in,
                      const Tensor& bias_in, const MakeCurve& make_curve) {
  const Tensor x = raw::contiguous(input), weight = raw::contiguous(weight_in),
               bias = bias_in.defined() ? raw::contiguous(bias_in) : bias_in;
  const int64_t columns = weight.numel(), rows = columns > 0 ? x.numel() / columns : 0;
  Tensor y(x.shape(), x.dtype());
  dispatch_float(name, x.dtype(), [&]<class T>() {
    kernels::pointwise_norm(rows, columns, make_curve(*p.data<T>(), columns), x.data<T>(), weight.data<T>(),
                            bias.defined() ? bias.data<T>() : nullptr, raw::write<T>(y));
  });
  return record(name, y, {input, p, weight_in, bias_in}, [=, x = x.detach()](Tensor upstream, Wants wants) {
    const Tensor dy = raw::contiguous(std::move(upstream));
    std::array<Tensor, 4> result{room_for_gradient(dy), Tensor(Shape{1}, x.dtype()),
                                 Tensor(weight.shape(), x.dtype())};
    if (wants[3]) result[3] = Tensor(weight.shape(), x.dtype());
    dispatch_float(name, x.dtype(), [&]<class T>() {
      double dp = 0;
      kernels::pointwise_norm_backward(rows, columns, make_curve(*p.data<T>(), columns), x.data<T>(),
                                       weight.data<T>(), dy.data<T>(), raw::write<T>(result[0]), &dp,
                                       wants[2] ? raw::write<T>(result[2]) : nullptr,
                                       wants[3] ? raw::write<T>(result[3]) : nullptr);
      *raw::write<T>(result[1]) = static_cast<T>(dp);
    });
    return result;
  });
}

Tensor finish(const Tensor& t, const Tensor& weight, const Tensor& bias) {
  return bias.defined() ? t * weight + bias : t * weight;
}

template <class T>
T root(int64_t d) {
  return static_cast<T>(std::sqrt(static_cast<double>(d)));
}

}  // namespace

Tensor dyt(const Tensor& x, const Tensor& alpha, const Tensor& weight, const Tensor& bias) {
  check_parameters("dyt", x, "alpha", alpha, weight, bias);
  if (composed_wanted()) return finish(tanh(x * alpha), weight, bias);
  return pointwise_norm("dyt", x, alpha, weight, bias,
                        [](auto p, int64_t) { return kernels::DytCurve<decltype(p)>{p}; });
}

Tensor dyt_sqrtd(const Tensor& x, const Tensor& inv_rho, const Tensor& weight, const Tensor& bias) {
  check_parameters("dyt_sqrtd", x, "inv_rho", inv_rho, weight, bias);
  const double sqrt_d = root<double>(weight.numel());
  if (composed_wanted()) return finish(tanh(x * inv_rho / sqrt_d) * sqrt_d, weight, bias);
  return pointwise_norm("dyt_sqrtd", x, inv_rho, weight, bias, [](auto p, int64_t d) {
    return kernels::DytSqrtdCurve<decltype(p)>{p, root<decltype(p)>(d)};
  });
}

Tensor dyisru(const Tensor& x, const Tensor& log_c, const Tensor& weight, const Tensor& bias) {
  check_parameters("dyisru", x, "log_c", log_c, weight, bias);
  if (composed_wanted())
    return finish(x / sqrt(square(x) + exp(log_c)) * root<double>(weight.numel()), weight, bias);
  return pointwise_norm("dyisru", x, log_c, weight, bias, [](auto p, int64_t d) {
    return kernels::DyisruCurve<decltype(p)>{std::exp(p), root<decltype(p)>(d)};
  });
}

}  // namespace isobar
