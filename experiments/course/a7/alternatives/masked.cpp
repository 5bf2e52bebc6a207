// The mask as −∞ among the logits of all keys; SwiGLU by tanh.
#include <cmath>

#include "a7.h"

Attention attention(const Tensor& q, const Tensor& k, const Tensor& v, bool causal) {
  const bool shared = k.size(1) > 0 && q.size(1) % k.size(1) == 0;
  check(shared && q.size(2) == k.size(2), "attention: {} against {}", q.shape(), k.shape());
  check(!causal || q.size(0) <= k.size(0), "attention: queries {} are more than keys {}", q.shape(),
        k.shape());
  std::vector<double> y(q.numel()), all;
  for (int64_t h = 0; h < q.size(1); ++h)
    for (int64_t t = 0; t < q.size(0); ++t) {
      const int64_t g = h * k.size(1) / q.size(1);
      std::vector<double> p(k.size(0));
      double top = -INFINITY, sum = 0;
      for (int64_t s = 0; s < k.size(0); ++s) {
        for (int64_t d = 0; d < q.size(2); ++d) p[s] += q.at({t, h, d}) * k.at({s, g, d});
        p[s] = causal && s + q.size(0) > t + k.size(0) ? -INFINITY : p[s] * std::pow(q.size(2), -0.5);
        top = std::fmax(top, p[s]);
      }
      for (double& z : p) sum += z = std::exp(z - top);
      for (int64_t s = 0; s < k.size(0); ++s) {
        all.push_back(p[s] /= sum);
        for (int64_t d = 0; d < q.size(2); ++d)
          y[(t * q.size(1) + h) * q.size(2) + d] += p[s] * v.at({s, g, d});
      }
    }
  return {isobar::tensor(q.shape(), y), isobar::tensor({q.size(1), q.size(0), k.size(0)}, all)};
}

Tensor swiglu(const Tensor& gate, const Tensor& up) {
  std::vector<double> y = gate.to_vector<double>();
  const std::vector<double> u = up.to_vector<double>();
  for (size_t i = 0; i < y.size(); ++i) y[i] *= u[i] * (1 + std::tanh(y[i] / 2)) / 2;
  return isobar::tensor(gate.shape(), y);
}

SwigluGradients swiglu_backward(const Tensor& dy, const Tensor& gate, const Tensor& up) {
  std::vector<double> dgate, dup;
  const std::vector<double> d = dy.to_vector<double>(), x = gate.to_vector<double>(),
                            u = up.to_vector<double>();
  for (size_t i = 0; i < d.size(); ++i) {
    const double s = (1 + std::tanh(x[i] / 2)) / 2;
    dgate.push_back(d[i] * u[i] * s * (1 + x[i] * (1 - s)));
    dup.push_back(d[i] * s * x[i]);
  }
  return {isobar::tensor(dy.shape(), dgate), isobar::tensor(dy.shape(), dup)};
}
