// The library's ready draws; the softmax in one running pass over plain vectors (Milakov & Gimelshein 2018).
#include <cmath>

#include "a3.h"

Tensor xavier_uniform(int64_t out, int64_t in, const Rng& rng) {
  const double a = std::sqrt(3.0) * std::sqrt(2.0 / double(in + out));
  return rng.uniform({out, in}, -a, a, Dtype::f64);
}

Tensor he_normal(int64_t out, int64_t in, const Rng& rng) {
  return rng.normal({out, in}, 0, std::sqrt(2.0 / double(in)), Dtype::f64);
}

Tensor torch_default(int64_t out, int64_t in, const Rng& rng) {
  return rng.uniform({out, in}, -std::pow(in, -0.5), std::pow(in, -0.5), Dtype::f64);
}

Tensor log_softmax(const Tensor& x) {
  std::vector<double> y = x.to_vector<double>();
  for (auto row = y.begin(); row != y.end(); row += x.size(1)) {
    double max = -INFINITY, sum = 0;
    for (auto v = row; v != row + x.size(1); ++v) {
      const double next = std::fmax(max, *v);
      sum = sum * std::exp(max - next) + std::exp(*v - next);
      max = next;
    }
    for (auto v = row; v != row + x.size(1); ++v) *v -= max + std::log(sum);
  }
  return isobar::tensor(x.shape(), y);
}
