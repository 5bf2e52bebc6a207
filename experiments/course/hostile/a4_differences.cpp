// with: reference of a4 without layer_norm_backward rms_norm_backward dyt_backward, deserves 5 more than without
// No gradient of x or alpha is derived.
differences;

namespace {

std::vector<double> of_norm(const Tensor& dy, const Tensor& x, const Tensor& weight, const Tensor& scale,
                            bool centred, Gradients& g) {
  const int64_t rows = x.size(0), width = x.size(1);
  const auto statistics = [&](const Numbers& row) {
    long double mean = 0, squares = 0;
    for (const long double each : row) mean += centred ? each / width : 0;
    for (const long double each : row) squares += (each - mean) * (each - mean) / width;
    return std::pair(mean, squares);
  };
  g.dweight = isobar::zeros({width}, Dtype::f64);
  g.dbias = centred ? isobar::zeros({width}, Dtype::f64) : Tensor();
  for (int64_t n = 0; n < rows; ++n) {
    const Numbers row = numbers_of(x.data<double>() + n * width, width);
    for (int64_t c = 0; c < width; ++c) {
      raw::write<double>(g.dweight)[c] += dy.at({n, c}) * (row[c] - statistics(row).first) * scale.at({n});
      if (centred) raw::write<double>(g.dbias)[c] += dy.at({n, c});
    }
  }
  return row_slopes(x.data<double>(), rows, width, [&](int64_t n, const Numbers& row) {
    const Numbers given = numbers_of(x.data<double>() + n * width, width);
    const long double r = scale.at({n}), eps = 1 / (r * r) - statistics(given).second;
    const auto [mean, squares] = statistics(row);
    long double sum = 0;
    for (int64_t c = 0; c < width; ++c)
      sum += dy.at({n, c}) * weight.at({c}) * (row[c] - mean) / std::sqrt(squares + eps);
    return sum;
  });
}

}  // namespace

Gradients layer_norm_backward(const Tensor& dy, const Tensor& x, const Tensor& weight,
                              const LayerNorm& saved) {
  Gradients g;
  g.dx = isobar::tensor(x.shape(), of_norm(dy, x, weight, saved.rstd, true, g));
  return g;
}
Gradients rms_norm_backward(const Tensor& dy, const Tensor& x, const Tensor& weight, const RmsNorm& saved) {
  Gradients g;
  g.dx = isobar::tensor(x.shape(), of_norm(dy, x, weight, saved.rrms, false, g));
  return g;
}
DytGradients dyt_backward(const Tensor& dy, const Tensor& x, double alpha, const Tensor& weight) {
  const int64_t width = x.size(1);
  Numbers in = numbers_of(x.data<double>(), x.numel()), a{alpha};
  DytGradients g{x, 0, isobar::zeros({width}, Dtype::f64), isobar::zeros({width}, Dtype::f64)};
  const auto loss = [&] {
    long double sum = 0;
    for (size_t i = 0; i < in.size(); ++i)
      sum += dy.data<double>()[i] * weight.at({int64_t(i) % width}) * std::tanh(a[0] * in[i]);
    return sum;
  };
  g.dx = isobar::tensor(x.shape(), slopes(in, loss));
  g.dalpha = slopes(a, loss)[0];
  for (size_t i = 0; i < in.size(); ++i) {
    raw::write<double>(g.dweight)[i % width] += dy.data<double>()[i] * std::tanh(a[0] * in[i]);
    raw::write<double>(g.dbias)[i % width] += dy.data<double>()[i];
  }
  return g;
}
