#include "a5.h"

#include <cmath>

// Task 1.
void sgd(Tensor& w, const Tensor& dw, double lr, double decay) {
  check(w.shape() == dw.shape(), "sgd: wanted a gradient of the weight's shape {}, got {}", w.shape(),
        dw.shape());
  double* const to = raw::write<double>(w);
  for (int64_t i = 0; i < w.numel(); ++i) to[i] -= lr * (dw.data<double>()[i] + decay * to[i]);
}

// Task 2.
void Momentum::step(Tensor& w, const Tensor& dw) {
  const bool first = !velocity.defined();
  if (first) velocity = isobar::zeros(w.shape(), Dtype::f64);
  double *const to = raw::write<double>(w), *const speed = raw::write<double>(velocity);
  for (int64_t i = 0; i < w.numel(); ++i) {
    const double g = dw.data<double>()[i] + decay * to[i];
    speed[i] = momentum * speed[i] + g;
    to[i] -= lr * (nesterov ? g + momentum * speed[i] : speed[i]);
  }
}

// Task 3.
void AdamW::step(Tensor& w, const Tensor& dw) {
  if (steps == 0) {
    m = isobar::zeros(w.shape(), Dtype::f64);
    v = isobar::zeros(w.shape(), Dtype::f64);
  }
  ++steps;
  const double correction1 = 1 - std::pow(beta1, steps), correction2 = 1 - std::pow(beta2, steps);
  double *const to = raw::write<double>(w), *const mean = raw::write<double>(m),
                *const square = raw::write<double>(v);
  for (int64_t i = 0; i < w.numel(); ++i) {
    const double d = dw.data<double>()[i];
    mean[i] = beta1 * mean[i] + (1 - beta1) * d;
    square[i] = beta2 * square[i] + (1 - beta2) * d * d;
    to[i] *= 1 - lr * decay;
    to[i] -= lr * (mean[i] / correction1) / (std::sqrt(square[i] / correction2) + eps);
  }
}

// Task 4.
double clip(std::vector<Tensor>& gradients, double most) {
  double squares = 0;
  for (const Tensor& dw : gradients)
    for (int64_t i = 0; i < dw.numel(); ++i) squares += dw.data<double>()[i] * dw.data<double>()[i];
  const double norm = std::sqrt(squares);
  if (!(norm > most) || !std::isfinite(norm)) return norm;
  for (Tensor& dw : gradients) {
    double* const to = raw::write<double>(dw);
    for (int64_t i = 0; i < dw.numel(); ++i) to[i] *= most / norm;
  }
  return norm;
}

// Task 5: with one weight it learns, with two it goes astray. The bug is one line.
void RmsProp::step(std::vector<Tensor>& weights, const std::vector<Tensor>& gradients) {
  // solution {
  if (squares.empty())
    for (const Tensor& w : weights) squares.push_back(isobar::zeros(w.shape(), Dtype::f64));
  // instead {
  // if (squares.empty()) squares.assign(weights.size(), isobar::zeros(weights[0].shape(), Dtype::f64));
  // }
  for (size_t k = 0; k < weights.size(); ++k) {
    double *const to = raw::write<double>(weights[k]), *const square = raw::write<double>(squares[k]);
    for (int64_t i = 0; i < weights[k].numel(); ++i) {
      const double d = gradients[k].data<double>()[i];
      square[i] = rho * square[i] + (1 - rho) * d * d;
      to[i] -= lr * d / (std::sqrt(square[i]) + eps);
    }
  }
}
