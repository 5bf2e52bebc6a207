// AVX2 by hand, eight floats at a time and masks for the rest; sums of a row in f64; the backward pass by the textbook's two steps.
#include "a9.h"

#include <immintrin.h>

#include <algorithm>
#include <cmath>
#include <limits>

Prediction predict(const Work& work, const Machine& machine) {
  const int64_t each = 4 * work.rows * work.width;
  const int64_t bytes = work.width * 8.0 <= machine.cache ? 2 * each : each * work.reads + each * work.writes;
  const double flops = work.flops * (each / 4);
  return {static_cast<double>(bytes), flops,
          std::max(bytes * 1e-6 / machine.gigabytes_a_second, flops * 1e-6 / machine.gigaflops)};
}

namespace {

__m256 exp8(__m256 x) {
  const __m256 z = _mm256_max_ps(_mm256_set1_ps(-104), x);  // the second one where either is NaN
  const __m256 n = _mm256_round_ps(_mm256_mul_ps(z, _mm256_set1_ps(1.44269504f)),
                                   _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  __m256 f = _mm256_fnmadd_ps(n, _mm256_set1_ps(0.693359375f), z);
  f = _mm256_fmadd_ps(n, _mm256_set1_ps(2.12194440e-4f), f);
  __m256 p = _mm256_set1_ps(1 / 5040.0f);
  for (const float next : {1 / 720.0f, 1 / 120.0f, 1 / 24.0f, 1 / 6.0f, 0.5f, 1.0f, 1.0f})
    p = _mm256_fmadd_ps(p, f, _mm256_set1_ps(next));
  const __m256i whole = _mm256_cvtps_epi32(n), half = _mm256_srai_epi32(whole, 1),
                bias = _mm256_set1_epi32(127);
  const auto power = [&](__m256i e) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(e, bias), 23));
  };
  return _mm256_mul_ps(_mm256_mul_ps(p, power(half)), power(_mm256_sub_epi32(whole, half)));
}

// Eight numbers, or `count` of them where there are fewer
__m256i mask(int64_t count) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(count)),
                            _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

__m256 load(const float* x, int64_t count, float rest) {
  if (count >= 8) return _mm256_loadu_ps(x);
  return _mm256_blendv_ps(_mm256_set1_ps(rest), _mm256_maskload_ps(x, mask(count)),
                          _mm256_castsi256_ps(mask(count)));
}

void store(float* y, int64_t count, __m256 v) {
  if (count >= 8)
    _mm256_storeu_ps(y, v);
  else
    _mm256_maskstore_ps(y, mask(count), v);
}

template <typename Each>
double total(__m256 v, Each each) {
  alignas(32) float at[8];
  _mm256_store_ps(at, v);
  double all = at[0];
  for (int i = 1; i < 8; ++i) all = each(all, static_cast<double>(at[i]));
  return all;
}

constexpr float nothing = -std::numeric_limits<float>::infinity();

float largest_of(const float* x, int64_t width) {
  __m256 m = _mm256_set1_ps(nothing);
  for (int64_t c = 0; c < width; c += 8) m = _mm256_max_ps(load(x + c, width - c, nothing), m);
  return static_cast<float>(total(m, [](double a, double b) { return a > b ? a : b; }));
}

struct Sums {
  double first, squares;
};

Sums exponentials(const float* x, float* y, int64_t width, float largest) {
  __m256 sum = _mm256_setzero_ps(), squares = sum;
  for (int64_t c = 0; c < width; c += 8) {
    const __m256 e = exp8(_mm256_sub_ps(load(x + c, width - c, nothing), _mm256_set1_ps(largest)));
    sum = _mm256_add_ps(sum, e);
    squares = _mm256_fmadd_ps(e, e, squares);
    store(y + c, width - c, e);
  }
  const auto add = [](double a, double b) { return a + b; };
  return {total(sum, add), total(squares, add)};
}

}  // namespace

void expf_lanes(const float* x, float* y, int64_t n) {
  for (int64_t i = 0; i < n; i += 8) store(y + i, n - i, exp8(load(x + i, n - i, 0)));
}

void softmax(const float* x, float* y, int64_t rows, int64_t width) {
  for (int64_t n = 0; n < rows; ++n, x += width, y += width) {
    const float scale = static_cast<float>(1 / exponentials(x, y, width, largest_of(x, width)).first);
    for (int64_t c = 0; c < width; ++c) y[c] *= scale;
  }
}

void softmax_rms_norm(const float* x, const float* weight, float* y, Row* saved, int64_t rows, int64_t width,
                      float eps) {
  for (int64_t n = 0; n < rows; ++n, x += width, y += width) {
    const float largest = largest_of(x, width);
    const Sums sums = exponentials(x, y, width, largest);
    const double r = 1 / std::sqrt(sums.squares / sums.first / sums.first / width + eps);
    const float scale = static_cast<float>(r / sums.first);
    for (int64_t c = 0; c < width; ++c) y[c] *= scale * weight[c];
    saved[n] = {largest, static_cast<float>(sums.first), static_cast<float>(r)};
  }
}

void softmax_rms_norm_backward(const float* dy, const float* x, const float* weight, const Row* saved,
                               float* dx, float* dweight, int64_t rows, int64_t width, float eps) {
  std::fill_n(dweight, width, 0.0f);
  for (int64_t n = 0; n < rows; ++n, dy += width, x += width, dx += width) {
    exponentials(x, dx, width, saved[n].largest);
    const double r = saved[n].rrms, sum = saved[n].sum;
    double share = 0, dot = 0;
    for (int64_t c = 0; c < width; ++c)
      share += static_cast<double>(dy[c]) * weight[c] * dx[c] / sum * r / width;
    dot = share * width * eps * r * r;
    for (int64_t c = 0; c < width; ++c) {
      const double p = dx[c] / sum;
      dweight[c] += static_cast<float>(dy[c] * p * r);
      dx[c] = static_cast<float>(p * (r * (static_cast<double>(dy[c]) * weight[c] - share * p * r) - dot));
    }
  }
}
