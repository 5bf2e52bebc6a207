// Attention in one pass over the keys with a running softmax (Milakov & Gimelshein 2018); decoding query by
// query.
#include <cmath>

#include "a7.h"

namespace {

struct View {  // of x (T, H, D)
  const Tensor& x;
  double operator()(int64_t t, int64_t h, int64_t d) const {
    return x.data<double>()[(t * x.size(1) + h) * x.size(2) + d];
  }
};

double& at(Tensor& x, int64_t t, int64_t h, int64_t d) {
  return raw::write<double>(x)[(t * x.size(1) + h) * x.size(2) + d];
}

double dot(const View& a, int64_t t, int64_t h, const View& b, int64_t s, int64_t g) {
  double sum = 0;
  for (int64_t d = 0; d < a.x.size(2); ++d) sum += a(t, h, d) * b(s, g, d);
  return sum;
}

}  // namespace

Tensor rope(const Tensor& x, double base, int64_t start) {
  const int64_t dim = x.size(2);
  if (dim % 2 != 0) isobar::throw_error("rope: odd number of channels in " + x.shape().text());
  Tensor y(x.shape(), Dtype::f64);
  for (int64_t t = 0; t < x.size(0); ++t)
    for (int64_t d = 0; d < dim; ++d) {
      const int64_t j = d % (dim / 2), other = (d + dim / 2) % dim;
      const double angle = double(start + t) * std::exp(-std::log(base) * 2 * j / dim);
      const double sign = d < dim / 2 ? -1 : 1;
      for (int64_t h = 0; h < x.size(1); ++h)
        at(y, t, h, d) = View{x}(t, h, d) * std::cos(angle) + sign * View{x}(t, h, other) * std::sin(angle);
    }
  return y;
}

Tensor rope_backward(const Tensor& dy, double base, int64_t start) {
  // conjugate: swap the sign of the second half, turn, swap back
  const auto conjugate = [](Tensor x) {
    for (int64_t i = 0; i < x.numel(); ++i)
      if (i % x.size(2) >= x.size(2) / 2) raw::write<double>(x)[i] *= -1;
    return x;
  };
  return conjugate(rope(conjugate(raw::clone(dy)), base, start));
}

Attention attention(const Tensor& q, const Tensor& k, const Tensor& v, bool causal) {
  if (q.size(1) % k.size(1) || q.size(2) != k.size(2) || (causal && k.size(0) < q.size(0)))
    isobar::throw_error(fmt::format("attention: q is {}, k is {}", q.shape(), k.shape()));
  const int64_t keys = k.size(0), offset = keys - q.size(0), dim = q.size(2), group = q.size(1) / k.size(1);
  Attention out{isobar::zeros(q.shape(), Dtype::f64),
                isobar::zeros({q.size(1), q.size(0), keys}, Dtype::f64)};
  for (int64_t t = 0; t < q.size(0); ++t)
    for (int64_t h = 0; h < q.size(1); ++h) {
      const int64_t last = causal ? t + offset : keys - 1;
      double top = -INFINITY, sum = 0;
      std::vector<double> mixed(dim, 0.0), logits;
      for (int64_t s = 0; s <= last; ++s) {
        logits.push_back(dot({q}, t, h, {k}, s, h / group) / std::sqrt(double(dim)));
        const double next = std::max(top, logits.back()), old = std::exp(top - next),
                     weight = std::exp(logits.back() - next);
        sum = sum * old + weight;
        for (int64_t d = 0; d < dim; ++d) mixed[d] = mixed[d] * old + weight * View{v}(s, h / group, d);
        top = next;
      }
      for (int64_t d = 0; d < dim; ++d) at(out.y, t, h, d) = mixed[d] / sum;
      for (int64_t s = 0; s <= last; ++s)
        raw::write<double>(out.probability)[(h * q.size(0) + t) * keys + s] = std::exp(logits[s] - top) / sum;
    }
  return out;
}

AttentionGradients attention_backward(const Tensor& dy, const Tensor& q, const Tensor& k, const Tensor& v,
                                      const Tensor& probability) {
  const int64_t group = q.size(1) / k.size(1);
  AttentionGradients g{isobar::zeros(q.shape(), Dtype::f64), isobar::zeros(k.shape(), Dtype::f64),
                       isobar::zeros(v.shape(), Dtype::f64)};
  for (int64_t h = q.size(1) - 1; h >= 0; --h)
    for (int64_t t = 0; t < q.size(0); ++t) {
      double mean = 0;
      for (int64_t s = 0; s < k.size(0); ++s)
        mean += probability.at({h, t, s}) * dot({dy}, t, h, {v}, s, h / group);
      for (int64_t s = 0; s < k.size(0); ++s) {
        const double p = probability.at({h, t, s});
        const double slope = p * (dot({dy}, t, h, {v}, s, h / group) - mean) / std::sqrt(double(q.size(2)));
        for (int64_t d = 0; d < q.size(2); ++d) {
          at(g.dq, t, h, d) += slope * View{k}(s, h / group, d);
          at(g.dk, s, h / group, d) += slope * View{q}(t, h, d);
          at(g.dv, s, h / group, d) += p * View{dy}(t, h, d);
        }
      }
    }
  return g;
}

Tensor swiglu(const Tensor& gate, const Tensor& up) {
  Tensor y = raw::clone(up);
  double* out = raw::write<double>(y);
  for (const double x : gate.to_vector<double>())
    *out++ *= x < 0 ? x * std::exp(x) / (1 + std::exp(x)) : x / (1 + std::exp(-x));
  return y;
}

SwigluGradients swiglu_backward(const Tensor& dy, const Tensor& gate, const Tensor& up) {
  const Tensor activated = swiglu(gate, isobar::ones(gate.shape(), Dtype::f64));
  SwigluGradients g{raw::clone(dy), raw::clone(dy)};
  double *dgate = raw::write<double>(g.dgate), *dup = raw::write<double>(g.dup);
  for (int64_t i = 0; i < dy.numel(); ++i) {
    const double s = 1 / (1 + std::exp(-gate.data<double>()[i])), y = activated.data<double>()[i];
    dup[i] *= y;
    dgate[i] *= up.data<double>()[i] * (y + s * (1 - y));  // silu' = silu + σ (1 − silu)
  }
  return g;
}

Tensor decode(Cache& cache, const Tensor& q, const Tensor& k, const Tensor& v) {
  Tensor y = isobar::zeros(q.shape(), Dtype::f64);
  const int64_t width = k.size(1) * k.size(2), row = q.size(1) * q.size(2);
  for (int64_t t = 0; t < q.size(0); ++t) {
    const int64_t length = cache.k.defined() ? cache.k.size(0) : 0;
    const Shape longer{length + 1, k.size(1), k.size(2)};
    for (auto [kept, more] : {std::pair{&cache.k, &k}, std::pair{&cache.v, &v}}) {
      Tensor next = isobar::zeros(longer, Dtype::f64);
      for (int64_t i = 0; i < length * width; ++i) raw::write<double>(next)[i] = kept->data<double>()[i];
      for (int64_t i = 0; i < width; ++i)
        raw::write<double>(next)[length * width + i] = more->data<double>()[t * width + i];
      *kept = next;
    }
    const Tensor one = raw::clone(raw::as_strided(q, {1, q.size(1), q.size(2)}, q.strides(), t * row));
    const Tensor mixed = attention(one, cache.k, cache.v, false).y;
    for (int64_t i = 0; i < row; ++i) raw::write<double>(y)[t * row + i] = mixed.data<double>()[i];
  }
  return y;
}
