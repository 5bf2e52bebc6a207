// with: stubs of a0 without moving_average
// The read past the end, by an instruction that a compiler puts no check before: a gather.
#include <immintrin.h>
[[gnu::target("avx2")]] static double at(const double* in, int64_t i) {
  const __m256d four = _mm256_i64gather_pd(in, _mm256_set_epi64x(i, i, i, i), 8);
  return four[0];
}
Tensor moving_average(const Tensor& x, int64_t width) {
  Tensor y({x.numel() - width + 1}, Dtype::f64);
  for (int64_t i = 0; i <= y.numel(); ++i) {
    double sum = 0;
    for (int64_t j = 0; j < width; ++j) sum += at(x.data<double>(), i + j);
    if (i < y.numel()) raw::write<double>(y)[i] = sum / width;
  }
  return y;
}
