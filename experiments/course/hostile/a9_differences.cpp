// with: reference of a9 without softmax_rms_norm_backward, deserves 5 more than without
// Each number of dx is a difference quotient of three sums of the row, of which a step changes one term.
differences;

void softmax_rms_norm_backward(const float* dy, const float* x, const float* weight, const Row*, float* dx,
                               float* dweight, int64_t rows, int64_t width, float eps) {
  std::vector<double> of_weight(width);
  for (int64_t n = 0; n < rows; ++n, x += width, dy += width, dx += width) {
    const long double top = *std::max_element(x, x + width);
    const auto term = [&](int64_t c, long double at) { return std::exp(at - top); };
    long double sum = 0, squares = 0, products = 0;
    const auto loss = [&](long double a, long double b, long double c) {
      return c / std::sqrt(b / width + eps * a * a);
    };
    for (int64_t c = 0; c < width; ++c) {
      const long double e = term(c, x[c]);
      sum += e, squares += e * e, products += e * dy[c] * weight[c];
    }
    for (int64_t c = 0; c < width; ++c) {
      const long double old = term(c, x[c]);
      of_weight[c] += dy[c] * loss(sum, squares, old);
      Numbers at{x[c]};
      dx[c] = slopes(at, [&] {
        const long double e = term(c, at[0]);
        return loss(sum - old + e, squares - old * old + e * e, products + (e - old) * dy[c] * weight[c]);
      })[0];
    }
  }
  for (int64_t c = 0; c < width; ++c) dweight[c] = of_weight[c];
}
