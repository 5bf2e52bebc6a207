// with: reference of a2 without multiply_backward divide_backward matmul_backward softmax_backward max_backward,
// deserves 5 more than without
// Each gradient is a difference quotient of the forward pass.
differences;

namespace {

template <class F>
Two of_pair(const Tensor& dy, const Tensor& a, const Tensor& b, const F& op) {
  const Tensor da = broadcast_to(a, dy.shape()), db = broadcast_to(b, dy.shape());
  Numbers p = numbers_of(da.data<double>(), da.numel()), q = numbers_of(db.data<double>(), db.numel());
  const auto loss = [&] {
    long double sum = 0;
    for (size_t i = 0; i < p.size(); ++i) sum += dy.data<double>()[i] * op(p[i], q[i]);
    return sum;
  };
  const std::vector<double> of_a = slopes(p, loss), of_b = slopes(q, loss);
  return {sum_to(isobar::tensor(dy.shape(), of_a), a.shape()),
          sum_to(isobar::tensor(dy.shape(), of_b), b.shape())};
}

}  // namespace

Two multiply_backward(const Tensor& dy, const Tensor& a, const Tensor& b) {
  return of_pair(dy, a, b, [](long double p, long double q) { return p * q; });
}
Two divide_backward(const Tensor& dy, const Tensor& a, const Tensor& b) {
  return of_pair(dy, a, b, [](long double p, long double q) { return p / q; });
}
Two matmul_backward(const Tensor& dy, const Tensor& a, const Tensor& b) {
  const int64_t rows = a.size(0), depth = a.size(1), columns = b.size(1);
  Numbers p = numbers_of(a.data<double>(), a.numel()), q = numbers_of(b.data<double>(), b.numel());
  const auto loss = [&] {
    long double sum = 0;
    for (int64_t m = 0; m < rows; ++m)
      for (int64_t n = 0; n < columns; ++n)
        for (int64_t k = 0; k < depth; ++k)
          sum += dy.data<double>()[m * columns + n] * p[m * depth + k] * q[k * columns + n];
    return sum;
  };
  const std::vector<double> da = slopes(p, loss), db = slopes(q, loss);
  return {isobar::tensor(a.shape(), da), isobar::tensor(b.shape(), db)};
}
Tensor softmax_backward(const Tensor& dy, const Tensor& y) {
  const int64_t width = y.size(-1), rows = width > 0 ? y.numel() / width : 0;
  std::vector<double> x = y.to_vector<double>();
  for (double& each : x) each = std::log(each);
  return isobar::tensor(y.shape(), row_slopes(x.data(), rows, width, [&](int64_t n, const Numbers& row) {
                          long double sum = 0, all = 0;
                          for (int64_t c = 0; c < width; ++c) {
                            all += std::exp(row[c]);
                            sum += dy.data<double>()[n * width + c] * std::exp(row[c]);
                          }
                          return sum / all;
                        }));
}
Tensor max_backward(const Tensor& dy, const Tensor& x) {
  const int64_t width = x.size(-1);
  return isobar::tensor(
      x.shape(), row_slopes(x.data<double>(), x.numel() / width, width, [&](int64_t n, const Numbers& row) {
        return dy.data<double>()[n] * *std::max_element(row.begin(), row.end());
      }));
}
