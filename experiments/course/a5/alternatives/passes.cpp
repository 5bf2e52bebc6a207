// One pass over memory for every line of the formula.
#include <algorithm>
#include <cmath>

#include "a5.h"

namespace {

// target ← a · target + b · f(source)
template <class F>
void mix(Tensor& target, double a, double b, const Tensor& source, F f) {
  double* const to = raw::write<double>(target);
  const double* const from = source.data<double>();
  std::transform(to, to + target.numel(), from, to, [&](double t, double s) { return a * t + b * f(s); });
}
const auto same = [](double x) { return x; };
const auto squared = [](double x) { return x * x; };

Tensor none_of(const Tensor& like) { return isobar::full(like.shape(), 0, Dtype::f64); }

}  // namespace

void Momentum::step(Tensor& w, const Tensor& dw) {
  Tensor g = raw::clone(dw);
  mix(g, 1, decay, w, same);
  if (!velocity.defined()) velocity = none_of(w);
  mix(velocity, momentum, 1, g, same);
  if (nesterov) mix(w, 1, -lr, g, same);
  mix(w, 1, nesterov ? -lr * momentum : -lr, velocity, same);
}

void AdamW::step(Tensor& w, const Tensor& dw) {
  if (!m.defined()) m = none_of(w);
  if (!v.defined()) v = none_of(w);
  mix(m, beta1, 1 - beta1, dw, same);
  mix(v, beta2, 1 - beta2, dw, squared);
  steps += 1;
  double b1 = 1, b2 = 1;
  for (int64_t i = 0; i < steps; ++i) b1 *= beta1, b2 *= beta2;
  Tensor direction = raw::clone(m);
  for (int64_t i = 0; i < w.numel(); ++i)
    raw::write<double>(direction)[i] =
        m.data<double>()[i] / (1 - b1) / (std::sqrt(v.data<double>()[i] / (1 - b2)) + eps);
  mix(w, 1 - lr * decay, -lr, direction, same);
}

double clip(std::vector<Tensor>& gradients, double most) {
  long double squares = 0;
  for (Tensor& g : gradients)
    std::for_each(g.data<double>(), g.data<double>() + g.numel(),
                  [&](double x) { squares += (long double)x * x; });
  const double norm = std::sqrt(static_cast<double>(squares));
  const double factor = norm > most && norm < INFINITY ? most / norm : 1;
  if (factor != 1)
    for (Tensor& g : gradients) mix(g, factor, 0, raw::clone(g), same);
  return norm;
}
