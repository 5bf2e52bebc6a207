// Heads as matrices of rows; RoPE by complex numbers; the mask as −∞.
#include <cmath>
#include <complex>

#include "a7.h"

namespace {

using Matrix = std::vector<std::vector<double>>;

Matrix head_of(const Tensor& x, int64_t h) {
  Matrix m(x.size(0), std::vector<double>(x.size(2)));
  for (int64_t t = 0; t < x.size(0); ++t)
    for (int64_t d = 0; d < x.size(2); ++d) m[t][d] = x.at({t, h, d});
  return m;
}

void add_head(Tensor& x, int64_t h, const Matrix& m) {
  double* to = raw::write<double>(x);
  for (size_t t = 0; t < m.size(); ++t)
    for (size_t d = 0; d < m[t].size(); ++d) to[(t * x.size(1) + h) * x.size(2) + d] += m[t][d];
}

Matrix product(const Matrix& a, const Matrix& b, double factor = 1) {
  Matrix y(a.size(), std::vector<double>(b.empty() ? 0 : b[0].size()));
  for (size_t i = 0; i < a.size(); ++i)
    for (size_t j = 0; j < b.size(); ++j)
      for (size_t n = 0; n < b[j].size(); ++n) y[i][n] += factor * a[i][j] * b[j][n];
  return y;
}

Matrix transposed(const Matrix& a) {
  Matrix y(a[0].size(), std::vector<double>(a.size()));
  for (size_t i = 0; i < a.size(); ++i)
    for (size_t j = 0; j < a[i].size(); ++j) y[j][i] = a[i][j];
  return y;
}

Tensor turn(const Tensor& x, double base, int64_t start, bool back) {
  if (x.size(-1) % 2) isobar::throw_error(fmt::format("rope: {} has no pairs", x.shape()));
  Tensor y = raw::clone(x);
  const int64_t half = x.size(2) / 2;
  for (int64_t t = 0; t < x.size(0); ++t)
    for (int64_t h = 0; h < x.size(1); ++h)
      for (int64_t j = 0; j < half; ++j) {
        const double angle = (t + start) / std::pow(base, double(j) / half);
        const std::complex<double> z = std::complex<double>(x.at({t, h, j}), x.at({t, h, j + half})) *
                                       std::polar(1.0, back ? -angle : angle);
        raw::write<double>(y)[(t * x.size(1) + h) * 2 * half + j] = z.real();
        raw::write<double>(y)[(t * x.size(1) + h) * 2 * half + j + half] = z.imag();
      }
  return y;
}

}  // namespace

Tensor rope(const Tensor& x, double base, int64_t start) { return turn(x, base, start, false); }
Tensor rope_backward(const Tensor& dy, double base, int64_t start) { return turn(dy, base, start, true); }

Attention attention(const Tensor& q, const Tensor& k, const Tensor& v, bool causal) {
  const bool shared = k.size(1) > 0 && q.size(1) % k.size(1) == 0;
  check(shared && q.size(2) == k.size(2), "attention: {} against {}", q.shape(), k.shape());
  check(!causal || q.size(0) <= k.size(0), "attention: queries {} are more than keys {}", q.shape(),
        k.shape());
  Attention out{isobar::zeros(q.shape(), Dtype::f64), {}};
  std::vector<double> all;
  for (int64_t h = 0; h < q.size(1); ++h) {
    const int64_t g = h * k.size(1) / q.size(1);
    Matrix p = product(head_of(q, h), transposed(head_of(k, g)), 1 / std::sqrt(double(q.size(2))));
    for (size_t t = 0; t < p.size(); ++t) {
      double top = -INFINITY, sum = 0;
      for (size_t s = 0; s < p[t].size(); ++s) {
        if (causal && s + q.size(0) > t + k.size(0)) p[t][s] = -INFINITY;
        top = std::fmax(top, p[t][s]);
      }
      for (double& z : p[t]) sum += z = std::exp(z - top);
      for (double& z : p[t]) all.push_back(z /= sum);
    }
    add_head(out.y, h, product(p, head_of(v, g)));
  }
  out.probability = isobar::tensor({q.size(1), q.size(0), k.size(0)}, all);
  return out;
}

AttentionGradients attention_backward(const Tensor& dy, const Tensor& q, const Tensor& k, const Tensor& v,
                                      const Tensor& probability) {
  const auto none = [](const Tensor& like) { return isobar::zeros(like.shape(), Dtype::f64); };
  AttentionGradients out{none(q), none(k), none(v)};
  const double scale = std::pow(double(q.size(2)), -0.5);
  for (int64_t h = 0; h < q.size(1); ++h) {
    const int64_t g = h / (q.size(1) / k.size(1));
    Matrix p(q.size(0), std::vector<double>(k.size(0)));
    for (int64_t t = 0; t < q.size(0); ++t)
      for (int64_t s = 0; s < k.size(0); ++s) p[t][s] = probability.at({h, t, s});
    const Matrix d = head_of(dy, h), y = product(p, head_of(v, g));
    Matrix dz = product(d, transposed(head_of(v, g)));
    for (size_t t = 0; t < dz.size(); ++t) {
      double dot = 0;  // Σ dp p = Σ dy y
      for (size_t c = 0; c < d[t].size(); ++c) dot += d[t][c] * y[t][c];
      for (size_t s = 0; s < dz[t].size(); ++s) dz[t][s] = p[t][s] * (dz[t][s] - dot);
    }
    add_head(out.dv, g, product(transposed(p), d));
    add_head(out.dq, h, product(dz, head_of(k, g), scale));
    add_head(out.dk, g, product(transposed(dz), head_of(q, h), scale));
  }
  return out;
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
