// Plain vectors; Adam with its corrections moved into the step size, exactly.
#include <cmath>

#include "a5.h"

namespace {

using Values = std::vector<double>;

void put(Tensor& target, const Values& values) {
  for (size_t i = 0; i < values.size(); ++i) raw::write<double>(target)[i] = values[i];
}

}  // namespace

void sgd(Tensor& w, const Tensor& dw, double lr, double decay) {
  if (!(w.shape() == dw.shape()))
    isobar::throw_error(fmt::format("sgd: weight {}, gradient {}", w.shape(), dw.shape()));
  Values next = w.to_vector<double>();
  const Values d = dw.to_vector<double>();
  for (size_t i = 0; i < next.size(); ++i) next[i] = next[i] - lr * d[i] - lr * decay * next[i];
  put(w, next);
}

void Momentum::step(Tensor& w, const Tensor& dw) {
  Values now = w.to_vector<double>(), g = dw.to_vector<double>();
  for (size_t i = 0; i < g.size(); ++i) g[i] += decay * now[i];
  Values u = g;
  if (velocity.defined())
    for (size_t i = 0; i < u.size(); ++i) u[i] += momentum * velocity.at({int64_t(i)});
  velocity = isobar::tensor(w.shape(), u);
  for (size_t i = 0; i < u.size(); ++i) now[i] -= nesterov ? lr * g[i] + lr * momentum * u[i] : lr * u[i];
  put(w, now);
}

void AdamW::step(Tensor& w, const Tensor& dw) {
  const bool first = steps++ == 0;
  Values means = first ? Values(w.numel(), 0.0) : m.to_vector<double>();
  Values squares = first ? Values(w.numel(), 0.0) : v.to_vector<double>();
  Values now = w.to_vector<double>();
  const double root = std::sqrt(1 - std::pow(beta2, double(steps)));
  const double rate = lr * root / (1 - std::pow(beta1, double(steps)));
  for (size_t i = 0; i < now.size(); ++i) {
    const double d = dw.data<double>()[i];
    means[i] += (1 - beta1) * (d - means[i]);
    squares[i] += (1 - beta2) * (d * d - squares[i]);
    // m / c1 / (√v / root + eps) = (root / c1) m / (√v + eps · root)
    now[i] = now[i] - lr * decay * now[i] - rate * means[i] / (std::sqrt(squares[i]) + eps * root);
  }
  m = isobar::tensor(w.shape(), means);
  v = isobar::tensor(w.shape(), squares);
  put(w, now);
}

double clip(std::vector<Tensor>& gradients, double most) {
  double norm = 0;
  for (const Tensor& g : gradients)
    for (const double value : g.to_vector<double>()) norm = std::hypot(norm, value);
  if (std::isfinite(norm) && norm > most)
    for (Tensor& g : gradients) {
      Values scaled = g.to_vector<double>();
      for (double& value : scaled) value = value / norm * most;
      g = isobar::tensor(g.shape(), scaled);
    }
  return norm;
}

void RmsProp::step(std::vector<Tensor>& weights, const std::vector<Tensor>& gradients) {
  squares.resize(weights.size());
  for (size_t k = 0; k < weights.size(); ++k) {
    Values s = squares[k].defined() ? squares[k].to_vector<double>() : Values(weights[k].numel(), 0.0);
    Values now = weights[k].to_vector<double>();
    for (size_t i = 0; i < s.size(); ++i) {
      const double d = gradients[k].data<double>()[i];
      s[i] += (1 - rho) * (d * d - s[i]);
      now[i] -= lr * d / (std::sqrt(s[i]) + eps);
    }
    squares[k] = isobar::tensor(weights[k].shape(), s);
    put(weights[k], now);
  }
}
