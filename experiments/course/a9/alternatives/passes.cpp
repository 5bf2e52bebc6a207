// A loop for each step, over a row that stays in the cache: more loops than wanted, each so simple that the
// compiler makes vectors of it. Cephes' polynomial.
#include "a9.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

namespace {

int32_t bits_of(float x) {
  int32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits & 0x7fffffff;  // of a number above 0, or of a NaN
}

float power_of_two(int32_t n) {
  const uint32_t bits = static_cast<uint32_t>(n + 127) << 23;
  float y;
  std::memcpy(&y, &bits, sizeof y);
  return y;
}

inline float exp_of(float x) {
  const float z = -104.0f > x ? -104.0f : x;
  const float moved = z * 1.44269504f + 12582912.0f, n = moved - 12582912.0f;  // 1.5 · 2^23
  const float f = z - n * 0.693359375f + n * 2.12194440e-4f;
  float p = 1.9875691500e-4f * f + 1.3981999507e-3f;
  p = p * f + 8.3334519073e-3f;
  p = p * f + 4.1665795894e-2f;
  p = p * f + 1.6666665459e-1f;
  p = p * f + 5.0000001201e-1f;
  p = p * (f * f) + f + 1.0f;
  const int32_t whole = bits_of(moved) - bits_of(12582912.0f), half = whole >> 1;
  return p * power_of_two(half) * power_of_two(whole - half);
}

// Of `size` numbers at a time, each with a place of its own; `join` is + or the bigger.
constexpr int64_t size = 32;
constexpr auto itself = [](float v) { return v; };
constexpr auto squared = [](float v) { return v * v; };
constexpr auto bigger = [](float a, float b) { return b > a ? b : a; };
template <typename Take, typename Join>
float joined(const float* x, int64_t width, float start, Take take, Join join) {
  float all[size];
  std::fill_n(all, size, start);
  for (int64_t c = 0; c + size <= width; c += size)
    for (int64_t i = 0; i < size; ++i) all[i] = join(all[i], take(x[c + i]));
  for (int64_t c = width / size * size; c < width; ++c) all[0] = join(all[0], take(x[c]));
  for (int64_t i = 1; i < size; ++i) all[0] = join(all[0], all[i]);
  return all[0];
}

}  // namespace

void softmax_rms_norm(const float* x, const float* weight, float* y, Row* saved, int64_t rows, int64_t width,
                      float eps) {
  for (int64_t n = 0; n < rows; ++n, x += width, y += width) {
    const float largest = joined(x, width, -std::numeric_limits<float>::infinity(), itself, bigger);
    for (int64_t c = 0; c < width; ++c) y[c] = exp_of(x[c] - largest);
    const float sum = joined(y, width, 0, itself, std::plus<>()),
                squares = joined(y, width, 0, squared, std::plus<>());
    saved[n] = {largest, sum, 0};
    saved[n].rrms = 1 / std::sqrt(squares / (sum * sum) / width + eps);
    const float scale = saved[n].rrms / sum;
    for (int64_t c = 0; c < width; ++c) y[c] = y[c] * scale * weight[c];
  }
}
