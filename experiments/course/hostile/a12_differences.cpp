// with: reference of a12 without conv2d_backward batch_norm_backward, deserves 5 more than without
// Each gradient is a difference quotient of the forward pass.
differences;

namespace {

// The convolution's loss, of an image's window at a time.
long double of_windows(const Numbers& in, const Numbers& w, const Numbers& b, const Tensor& dy,
                       const Shape& x, const Shape& kernel, int64_t stride, int64_t padding) {
  long double sum = 0;
  const double* d = dy.data<double>();
  for (int64_t n = 0; n < x[0]; ++n)
    for (int64_t o = 0; o < kernel[0]; ++o)
      for (int64_t p = 0; p < dy.size(2); ++p)
        for (int64_t q = 0; q < dy.size(3); ++q, ++d) {
          long double y = b[o];
          for (int64_t k = 0; k < kernel[1] * kernel[2] * kernel[3]; ++k) {
            const int64_t j = k % kernel[3], i = k / kernel[3] % kernel[2], c = k / kernel[3] / kernel[2];
            const int64_t h = p * stride + i - padding, v = q * stride + j - padding;
            if (h >= 0 && h < x[2] && v >= 0 && v < x[3])
              y += in[((n * x[1] + c) * x[2] + h) * x[3] + v] * w[o * kernel[1] * kernel[2] * kernel[3] + k];
          }
          sum += *d * y;
        }
  return sum;
}

}  // namespace

ConvGradients conv2d_backward(const Tensor& dy, const Tensor& x, const Tensor& weight, int64_t stride,
                              int64_t padding) {
  Numbers in = numbers_of(x.data<double>(), x.numel()), w = numbers_of(weight.data<double>(), weight.numel()),
          b(weight.size(0));
  const auto loss = [&] { return of_windows(in, w, b, dy, x.shape(), weight.shape(), stride, padding); };
  const std::vector<double> dx = slopes(in, loss), dw = slopes(w, loss), db = slopes(b, loss);
  return {isobar::tensor(x.shape(), dx), isobar::tensor(weight.shape(), dw),
          isobar::tensor({weight.size(0)}, db)};
}

NormGradients batch_norm_backward(const Tensor& dy, const Tensor& x, const Tensor& weight,
                                  const BatchNorm& saved) {
  const int64_t channels = x.size(1), places = x.size(2) * x.size(3), count = x.size(0) * places;
  NormGradients g{raw::clone(x), isobar::zeros({channels}, Dtype::f64),
                  isobar::zeros({channels}, Dtype::f64)};
  for (int64_t c = 0; c < channels; ++c) {
    Numbers of_channel, d;
    std::vector<int64_t> at;
    for (int64_t i = 0; i < x.numel(); ++i)
      if (i / places % channels == c) {
        at.push_back(i);
        of_channel.push_back(x.data<double>()[i]);
        d.push_back(dy.data<double>()[i]);
      }
    const auto statistics = [&] {
      long double mean = 0, squares = 0;
      for (const long double each : of_channel) mean += each / count;
      for (const long double each : of_channel) squares += (each - mean) * (each - mean) / count;
      return std::pair(mean, squares);
    };
    const long double r = saved.rstd.at({c}), eps = 1 / (r * r) - statistics().second;
    Numbers parameters{weight.at({c}), 0};
    const auto loss = [&] {
      const auto [mean, squares] = statistics();
      long double sum = 0;
      for (int64_t i = 0; i < count; ++i)
        sum += d[i] * (parameters[0] * (of_channel[i] - mean) / std::sqrt(squares + eps) + parameters[1]);
      return sum;
    };
    const std::vector<double> dx = slopes(of_channel, loss), both = slopes(parameters, loss);
    for (int64_t i = 0; i < count; ++i) raw::write<double>(g.dx)[at[i]] = dx[i];
    raw::write<double>(g.dweight)[c] = both[0];
    raw::write<double>(g.dbias)[c] = both[1];
  }
  return g;
}
