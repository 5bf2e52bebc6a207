#include "a7.h"

#include <algorithm>
#include <cmath>
#include <limits>

// Task 1.
namespace {

// Pairs (j, j + D/2) turned by direction · (start + t) · base^(−2j/D).
Tensor turned(const Tensor& x, double base, int64_t start, double direction) {
  const int64_t heads = x.size(1), dim = x.size(2), half = dim / 2;
  check(dim % 2 == 0, "rope: wanted an even number of channels a head, got {}", x.shape());
  Tensor y(x.shape(), Dtype::f64);
  double* out = raw::write<double>(y);
  const double* in = x.data<double>();
  for (int64_t row = 0; row < x.size(0) * heads; ++row, in += dim, out += dim)
    for (int64_t j = 0; j < half; ++j) {
      const double angle = direction * (start + row / heads) * std::pow(base, -2.0 * j / dim);
      const double cos = std::cos(angle), sin = std::sin(angle);
      out[j] = in[j] * cos - in[j + half] * sin;
      out[j + half] = in[j] * sin + in[j + half] * cos;
    }
  return y;
}

}  // namespace

Tensor rope(const Tensor& x, double base, int64_t start) { return turned(x, base, start, 1); }

Tensor rope_backward(const Tensor& dy, double base, int64_t start) { return turned(dy, base, start, -1); }

// Task 2.
Attention attention(const Tensor& q, const Tensor& k, const Tensor& v, bool causal) {
  const int64_t queries = q.size(0), heads = q.size(1), dim = q.size(2), keys = k.size(0),
                kv_heads = k.size(1);
  check(heads % kv_heads == 0 && k.size(2) == dim && v.shape() == k.shape() && (!causal || keys >= queries),
        "attention: q {} and k {} do not fit", q.shape(), k.shape());
  Attention out{isobar::zeros(q.shape(), Dtype::f64), isobar::zeros({heads, queries, keys}, Dtype::f64)};
  double *y = raw::write<double>(out.y), *p = raw::write<double>(out.probability);
  const double *qs = q.data<double>(), *ks = k.data<double>(), *vs = v.data<double>();
  for (int64_t h = 0; h < heads; ++h)
    for (int64_t t = 0; t < queries; ++t, p += keys) {
      const int64_t group = h / (heads / kv_heads), seen = causal ? t + (keys - queries) + 1 : keys;
      double max = -std::numeric_limits<double>::infinity(), sum = 0;
      for (int64_t s = 0; s < seen; ++s) {
        for (int64_t d = 0; d < dim; ++d)
          p[s] += qs[(t * heads + h) * dim + d] * ks[(s * kv_heads + group) * dim + d] / std::sqrt(dim);
        max = std::max(max, p[s]);
      }
      for (int64_t s = 0; s < seen; ++s) sum += p[s] = std::exp(p[s] - max);
      for (int64_t s = 0; s < seen; ++s) {
        p[s] /= sum;
        for (int64_t d = 0; d < dim; ++d)
          y[(t * heads + h) * dim + d] += p[s] * vs[(s * kv_heads + group) * dim + d];
      }
    }
  return out;
}

// Task 3.
AttentionGradients attention_backward(const Tensor& dy, const Tensor& q, const Tensor& k, const Tensor& v,
                                      const Tensor& probability) {
  // With logits z = q kᵀ / √D: dv = pᵀ dy, dp = dy vᵀ, dz = p (dp − Σ dp p), dq = dz k / √D, dk = dzᵀ q / √D
  const int64_t queries = q.size(0), heads = q.size(1), dim = q.size(2), keys = k.size(0),
                kv_heads = k.size(1);
  AttentionGradients g{isobar::zeros(q.shape(), Dtype::f64), isobar::zeros(k.shape(), Dtype::f64),
                       isobar::zeros(v.shape(), Dtype::f64)};
  double *dq = raw::write<double>(g.dq), *dk = raw::write<double>(g.dk), *dv = raw::write<double>(g.dv);
  const double *p = probability.data<double>(), scale = 1 / std::sqrt(dim);
  for (int64_t h = 0; h < heads; ++h)
    for (int64_t t = 0; t < queries; ++t, p += keys) {
      const int64_t row = (t * heads + h) * dim;
      std::vector<double> dp(keys, 0.0);
      double dot = 0;
      for (int64_t s = 0; s < keys; ++s) {
        const int64_t key = (s * kv_heads + h / (heads / kv_heads)) * dim;
        for (int64_t d = 0; d < dim; ++d) {
          dp[s] += dy.data<double>()[row + d] * v.data<double>()[key + d];
          dv[key + d] += p[s] * dy.data<double>()[row + d];
        }
        dot += dp[s] * p[s];
      }
      for (int64_t s = 0; s < keys; ++s) {
        const int64_t key = (s * kv_heads + h / (heads / kv_heads)) * dim;
        const double dz = p[s] * (dp[s] - dot) * scale;
        for (int64_t d = 0; d < dim; ++d) {
          dq[row + d] += dz * k.data<double>()[key + d];
          dk[key + d] += dz * q.data<double>()[row + d];
        }
      }
    }
  return g;
}

// Task 4.
Tensor swiglu(const Tensor& gate, const Tensor& up) {
  Tensor y(gate.shape(), Dtype::f64);
  double* const out = raw::write<double>(y);
  for (int64_t i = 0; i < y.numel(); ++i) {
    const double x = gate.data<double>()[i];
    out[i] = x / (1 + std::exp(-x)) * up.data<double>()[i];
  }
  return y;
}

SwigluGradients swiglu_backward(const Tensor& dy, const Tensor& gate, const Tensor& up) {
  // silu' = σ + x σ (1 − σ)
  SwigluGradients g{Tensor(gate.shape(), Dtype::f64), Tensor(up.shape(), Dtype::f64)};
  double *dgate = raw::write<double>(g.dgate), *dup = raw::write<double>(g.dup);
  for (int64_t i = 0; i < dy.numel(); ++i) {
    const double x = gate.data<double>()[i], d = dy.data<double>()[i], sigmoid = 1 / (1 + std::exp(-x));
    dgate[i] = d * up.data<double>()[i] * (sigmoid + x * sigmoid * (1 - sigmoid));
    dup[i] = d * x * sigmoid;
  }
  return g;
}

// Task 5.
namespace {

// b's rows behind a's.
Tensor joined(const Tensor& a, const Tensor& b) {
  if (!a.defined()) return raw::clone(b);
  std::vector<double> values = a.to_vector<double>();
  for (const double value : b.to_vector<double>()) values.push_back(value);
  return isobar::tensor(a.shape().with(0, a.size(0) + b.size(0)), values);
}

}  // namespace

Tensor decode(Cache& cache, const Tensor& q, const Tensor& k, const Tensor& v) {
  cache.k = joined(cache.k, k);
  cache.v = joined(cache.v, v);
  return attention(q, cache.k, cache.v, true).y;
}
