// with: reference of a9 without softmax_rms_norm_backward, deserves 5 more than without
// Each number of dx is a difference of two forward passes in f64.
static double loss(const std::vector<double>& x, const float* dy, const float* weight, double eps,
                   double* dweight) {
  double largest = -INFINITY, sum = 0, squares = 0, all = 0;
  for (const double v : x) largest = std::max(largest, v);
  std::vector<double> p;
  for (const double v : x) p.push_back(std::exp(v - largest)), sum += p.back();
  for (double& v : p) v /= sum, squares += v * v;
  const double r = 1 / std::sqrt(squares / x.size() + eps);
  for (size_t c = 0; c < x.size(); ++c) {
    all += p[c] * r * weight[c] * dy[c];
    if (dweight != nullptr) dweight[c] += p[c] * r * dy[c];
  }
  return all;
}
void softmax_rms_norm_backward(const float* dy, const float* x, const float* weight, const Row*, float* dx,
                               float* dweight, int64_t rows, int64_t width, float eps) {
  std::vector<double> sums(width, 0.0);
  for (int64_t n = 0; n < rows; ++n, x += width, dy += width, dx += width) {
    std::vector<double> row(x, x + width);
    loss(row, dy, weight, eps, sums.data());
    for (int64_t c = 0; c < width; ++c) {
      const double step = 1e-5;
      row[c] = x[c] + step;
      const double above = loss(row, dy, weight, eps, nullptr);
      row[c] = x[c] - step;
      dx[c] = (above - loss(row, dy, weight, eps, nullptr)) / (2 * step);
      row[c] = x[c];
    }
  }
  for (int64_t c = 0; c < width; ++c) dweight[c] = sums[c];
}
