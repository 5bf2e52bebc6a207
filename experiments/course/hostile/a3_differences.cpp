// with: reference of a3 without linear_backward relu_backward log_softmax_backward cross_entropy_backward,
// deserves 5 more than without
// Each gradient is a difference quotient of the forward pass.
differences;

LinearGradients linear_backward(const Tensor& dy, const Tensor& x, const Tensor& weight) {
  const int64_t rows = x.size(0), inputs = x.size(1), outputs = weight.size(0);
  Numbers in = numbers_of(x.data<double>(), x.numel()), w = numbers_of(weight.data<double>(), weight.numel()),
          b(outputs);
  const auto loss = [&] {
    long double sum = 0;
    for (int64_t n = 0; n < rows; ++n)
      for (int64_t m = 0; m < outputs; ++m) {
        long double y = b[m];
        for (int64_t k = 0; k < inputs; ++k) y += in[n * inputs + k] * w[m * inputs + k];
        sum += dy.data<double>()[n * outputs + m] * y;
      }
    return sum;
  };
  const std::vector<double> dx = slopes(in, loss), dw = slopes(w, loss), db = slopes(b, loss);
  return {isobar::tensor(x.shape(), dx), isobar::tensor(weight.shape(), dw), isobar::tensor({outputs}, db)};
}
Tensor relu_backward(const Tensor& dy, const Tensor& x) {
  Numbers in = numbers_of(x.data<double>(), x.numel());
  return isobar::tensor(x.shape(), slopes(in, [&] {
                          long double sum = 0;
                          for (size_t i = 0; i < in.size(); ++i)
                            sum += dy.data<double>()[i] * std::max(in[i], 0.0L);
                          return sum;
                        }));
}
namespace {
Numbers logs(const Numbers& x) {
  const long double top = *std::max_element(x.begin(), x.end());
  long double sum = 0;
  Numbers found;
  for (const long double each : x) sum += std::exp(each - top);
  for (const long double each : x) found.push_back(each - top - std::log(sum));
  return found;
}
}  // namespace
Tensor log_softmax_backward(const Tensor& dy, const Tensor& y) {
  const int64_t width = y.size(-1);
  return isobar::tensor(y.shape(),
                        row_slopes(y.data<double>(), y.size(0), width, [&](int64_t n, const Numbers& row) {
                          long double sum = 0;
                          const Numbers there = logs(row);
                          for (int64_t v = 0; v < width; ++v) sum += dy.at({n, v}) * there[v];
                          return sum;
                        }));
}
Tensor cross_entropy_backward(const Tensor& logits, const Tensor& targets, int64_t ignore) {
  cross_entropy(logits, targets, ignore);  // throws where a target is wrong
  const int64_t classes = logits.size(1);
  long double counted = 0;
  for (int64_t n = 0; n < logits.size(0); ++n) counted += targets.data<int64_t>()[n] != ignore;
  return isobar::tensor(
      logits.shape(),
      row_slopes(logits.data<double>(), logits.size(0), classes, [&](int64_t n, const Numbers& row) {
        const int64_t target = targets.data<int64_t>()[n];
        return target == ignore ? 0 : -logs(row)[target] / counted;
      }));
}
