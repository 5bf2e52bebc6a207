// with: reference of a9 without expf_lanes softmax, deserves 70
// The C library's exp, and x read three times.
void expf_lanes(const float* x, float* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = std::exp(x[i]);
}
void softmax(const float* x, float* y, int64_t rows, int64_t width) {
  for (int64_t n = 0; n < rows; ++n, x += width, y += width) {
    float largest = -INFINITY, sum = 0;
    for (int64_t c = 0; c < width; ++c) largest = std::max(largest, x[c]);
    for (int64_t c = 0; c < width; ++c) sum += std::exp(x[c] - largest);
    for (int64_t c = 0; c < width; ++c) y[c] = std::exp(x[c] - largest) / sum;
  }
}
