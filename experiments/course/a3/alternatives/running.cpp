// The softmax in one running pass (Milakov & Gimelshein 2018).
#include <cmath>

#include "a3.h"

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
