// BatchNorm's gradient as the chain rule has it, road by road: through the variance, whose factor is −r³/2, and the mean.
#include <cmath>

#include "a12.h"

NormGradients batch_norm_backward(const Tensor& dy, const Tensor& x, const Tensor& weight,
                                  const BatchNorm& saved) {
  const int64_t channels = x.size(1), places = x.size(2) * x.size(3);
  const double count = static_cast<double>(x.size(0) * places);
  const std::vector<double> in = x.to_vector<double>(), d = dy.to_vector<double>();
  std::vector<double> dx(in.size()), dw(channels), db(channels), dvar(channels), dmean(channels),
      off(channels);
  for (size_t i = 0; i < in.size(); ++i) {
    const int64_t c = i / places % channels;
    const double centred = in[i] - saved.mean.at({c}), r = saved.rstd.at({c}), dz = d[i] * weight.at({c});
    db[c] += d[i];
    dw[c] += d[i] * centred * r;
    dvar[c] += dz * centred * -0.5 * std::pow(r, 3);
    dmean[c] -= dz * r;
    off[c] += centred;
  }
  for (int64_t c = 0; c < channels; ++c) dmean[c] += dvar[c] * -2 * off[c] / count;
  for (size_t i = 0; i < in.size(); ++i) {
    const int64_t c = i / places % channels;
    dx[i] = d[i] * weight.at({c}) * saved.rstd.at({c}) + dvar[c] * 2 * (in[i] - saved.mean.at({c})) / count +
            dmean[c] / count;
  }
  return {isobar::tensor(x.shape(), dx), isobar::tensor({channels}, dw), isobar::tensor({channels}, db)};
}
