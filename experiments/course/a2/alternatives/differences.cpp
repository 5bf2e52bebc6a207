// Differences output by output, of tensors made anew.
#include "a2.h"

using Values = std::vector<double>;

Tensor numeric_gradient(const Function& f, const Tensor& x, const Tensor& dy, double h) {
  const Values d = dy.to_vector<double>();
  Values dx;
  for (int64_t i = 0; i < x.numel(); ++i) {
    Values up = x.to_vector<double>(), down = up;
    up[i] += h;
    down[i] -= h;
    const Values high = f(isobar::tensor(x.shape(), up)).to_vector<double>(),
                 low = f(isobar::tensor(x.shape(), down)).to_vector<double>();
    double sum = 0;
    for (size_t k = 0; k < d.size(); ++k) sum += d[k] * (high[k] - low[k]) / (2 * h);
    dx.push_back(sum);
  }
  return isobar::tensor(x.shape(), dx);
}
