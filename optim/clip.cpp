#include "clip.h"

#include <cmath>

#include "../core/kernels/optim.h"

namespace isobar {

double grad_norm(const std::vector<Tensor>& parameters) {
  double sum = 0;
  for (const Tensor& parameter : parameters) {
    if (!parameter.grad().defined()) continue;
    const Tensor dw = parameter.grad().packed();
    sum += dispatch_float("grad_norm", dw.dtype(),
                          [&]<class T>() { return kernels::sum_of_squares(dw.numel(), dw.data<T>()); });
  }
  return std::sqrt(sum);
}

double clip_grad_norm(const std::vector<Tensor>& parameters, double max_norm) {
  check(max_norm >= 0, "clip_grad_norm: max_norm must not be negative, got {}", max_norm);
  const double norm = grad_norm(parameters);
  const double factor = max_norm / (norm + 1e-6);
  if (factor >= 1) return norm;  // false for NaN, which then reaches every gradient
  for (const Tensor& parameter : parameters) {
    if (!parameter.grad().defined()) continue;
    // Two parameters may share one gradient (y = a + b gives both the same dy): write only where nobody else
    // reads.
    if (!parameter.grad().sole_owner() || !parameter.grad().contiguous())
      parameter.set_grad(parameter.grad().copy());
    Tensor dw = parameter.grad();
    dispatch_float("clip_grad_norm", dw.dtype(),
                   [&]<class T>() { kernels::scale(dw.numel(), factor, dw.write<T>()); });
  }
  return norm;
}

}  // namespace isobar
