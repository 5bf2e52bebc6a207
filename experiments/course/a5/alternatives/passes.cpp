// AdamW with a pass over vectors for every line of the formula, powers by products, and new tensors as state.
#include <cmath>

#include "a5.h"

void AdamW::step(Tensor& w, const Tensor& dw) {
  std::vector<double> now = dw.to_vector<double>();
  const auto mixed = [&](const Tensor& mean, double beta) {
    std::vector<double> next = mean.defined() ? mean.to_vector<double>() : std::vector<double>(now.size());
    for (size_t i = 0; i < now.size(); ++i) next[i] = beta * next[i] + (1 - beta) * now[i];
    return isobar::tensor(w.shape(), next);
  };
  m = mixed(m, beta1);
  for (double& d : now) d *= d;
  v = mixed(v, beta2);
  steps += 1;
  double b1 = 1, b2 = 1;
  for (int64_t i = 0; i < steps; ++i) b1 *= beta1, b2 *= beta2;
  double* const to = raw::write<double>(w);
  for (int64_t i = 0; i < w.numel(); ++i) {
    const double root = std::sqrt(v.data<double>()[i] / (1 - b2)) + eps;
    to[i] = (1 - lr * decay) * to[i] - lr * m.data<double>()[i] / (1 - b1) / root;
  }
}
