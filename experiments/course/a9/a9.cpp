#include "a9.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

// Task 1.
Prediction predict(const Work& work, const Machine& machine) {
  const double elements = static_cast<double>(work.rows) * work.width;
  const bool stays = 2 * sizeof(float) * work.width <= machine.cache;
  const double moved = stays ? 2 : work.reads + work.writes;
  const double bytes = sizeof(float) * elements * moved, flops = elements * work.flops;
  return {bytes, flops, std::max(bytes / machine.gigabytes_a_second, flops / machine.gigaflops) / 1e6};
}

// Task 2.
namespace {

// exp x = 2^n · exp f with n = round(x / ln 2) and |f| ≤ ln 2 / 2. No branch: a loop over it becomes vector
// code.
inline float exponential(float x) {
  const float least = -104;               // exp of less is 0
  const float magic = 12582912;           // 1.5 · 2^23: adding it rounds to a whole number
  const float z = x < least ? least : x;  // NaN stays
  const float shifted = std::fma(z, 1.44269504f, magic);
  const float n = shifted - magic;
  const float f = std::fma(n, 2.12194440e-4f, std::fma(n, -0.693359375f, z));  // ln 2 in two parts
  float p = 1 / 5040.0f;  // Taylor's polynomial, degree 7
  p = std::fma(p, f, 1 / 720.0f);
  p = std::fma(p, f, 1 / 120.0f);
  p = std::fma(p, f, 1 / 24.0f);
  p = std::fma(p, f, 1 / 6.0f);
  p = std::fma(p, f, 0.5f);
  p = std::fma(p, f, 1.0f);
  p = std::fma(p, f, 1.0f);
  // 2^n may be no normal number: two factors 2^(n/2).
  const uint32_t power = std::bit_cast<uint32_t>(shifted) - std::bit_cast<uint32_t>(magic);
  const uint32_t half = static_cast<uint32_t>(static_cast<int32_t>(power) >> 1);
  return p * std::bit_cast<float>((half + 127) << 23) * std::bit_cast<float>((power - half + 127) << 23);
}

}  // namespace

void expf_lanes(const float* x, float* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = exponential(x[i]);
}

// Task 3.
namespace {

constexpr int64_t lanes = 32;

// Each lane has a maximum and a sum of its own; a block of lanes costs one exp(old − new maximum) a lane.
struct Online {
  float largest, sum;
};

Online online(const float* x, int64_t width) {
  float largest[lanes], sum[lanes] = {};
  std::fill_n(largest, lanes, std::numeric_limits<float>::lowest());
  const int64_t whole = width / lanes * lanes;
  for (int64_t c = 0; c < whole; c += lanes)
    for (int64_t l = 0; l < lanes; ++l) {
      const float v = x[c + l], now = v > largest[l] ? v : largest[l];
      sum[l] = std::fma(sum[l], exponential(largest[l] - now), exponential(v - now));
      largest[l] = now;
    }
  for (int64_t c = whole; c < width; ++c) {
    const int64_t l = c - whole;
    const float now = x[c] > largest[l] ? x[c] : largest[l];
    sum[l] = sum[l] * exponential(largest[l] - now) + exponential(x[c] - now);
    largest[l] = now;
  }
  Online all{*std::max_element(largest, largest + lanes), 0};
  for (int64_t l = 0; l < lanes; ++l) all.sum += sum[l] * exponential(largest[l] - all.largest);
  return all;
}

}  // namespace

void softmax(const float* x, float* y, int64_t rows, int64_t width) {
  for (int64_t n = 0; n < rows; ++n, x += width, y += width) {
    const Online row = online(x, width);
    const float scale = 1 / row.sum;
    for (int64_t c = 0; c < width; ++c) y[c] = exponential(x[c] - row.largest) * scale;
  }
}

// Task 4.
namespace {

float maximum(const float* x, int64_t width) {
  float largest[lanes];
  std::fill_n(largest, lanes, -std::numeric_limits<float>::infinity());
  const int64_t whole = width / lanes * lanes;
  for (int64_t c = 0; c < whole; c += lanes)
    for (int64_t l = 0; l < lanes; ++l) largest[l] = x[c + l] > largest[l] ? x[c + l] : largest[l];
  for (int64_t c = whole; c < width; ++c) largest[0] = x[c] > largest[0] ? x[c] : largest[0];
  return *std::max_element(largest, largest + lanes);
}

struct Sums {
  float first, squares;
};

// y = exp(x − largest), its sum and its squares' sum
Sums exponentials(const float* x, float* y, int64_t width, float largest) {
  float sum[lanes] = {}, squares[lanes] = {};
  const int64_t whole = width / lanes * lanes;
  for (int64_t c = 0; c < whole; c += lanes)
    for (int64_t l = 0; l < lanes; ++l) {
      const float e = exponential(x[c + l] - largest);
      y[c + l] = e;
      sum[l] += e;
      squares[l] = std::fma(e, e, squares[l]);
    }
  for (int64_t c = whole; c < width; ++c) {
    y[c] = exponential(x[c] - largest);
    sum[c - whole] += y[c];
    squares[c - whole] += y[c] * y[c];
  }
  Sums all{0, 0};
  for (int64_t l = 0; l < lanes; ++l) all.first += sum[l], all.squares += squares[l];
  return all;
}

}  // namespace

void softmax_rms_norm(const float* x, const float* weight, float* y, Row* saved, int64_t rows, int64_t width,
                      float eps) {
  for (int64_t n = 0; n < rows; ++n, x += width, y += width) {
    const float largest = maximum(x, width);
    const Sums sums = exponentials(x, y, width, largest);
    // With e = exp(x − largest): p r = e / √(mean e² + eps (Σe)²), so the softmax itself is never made.
    const float scale = 1 / std::sqrt(sums.squares / width + eps * sums.first * sums.first);
    for (int64_t c = 0; c < width; ++c) y[c] *= scale * weight[c];
    saved[n] = {largest, sums.first, scale * sums.first};
  }
}

// Task 5.
void softmax_rms_norm_backward(const float* dy, const float* x, const float* weight, const Row* saved,
                               float* dx, float* dweight, int64_t rows, int64_t width, float eps) {
  // With dz = dy · weight and a = r mean(dz · p):  dx = p (r dz − r² a p − C a eps r²)
  std::fill_n(dweight, width, 0.0f);
  for (int64_t n = 0; n < rows; ++n, dy += width, x += width, dx += width) {
    const float scale = 1 / saved[n].sum, r = saved[n].rrms;
    float dot[lanes] = {};
    for (int64_t start = 0; start < width; start += lanes) {
      const int64_t count = std::min(lanes, width - start);
      for (int64_t l = 0; l < count; ++l) {
        const float p = exponential(x[start + l] - saved[n].largest) * scale;
        dx[start + l] = p;
        dot[l] = std::fma(dy[start + l] * weight[start + l], p, dot[l]);
      }
    }
    float total = 0;
    for (int64_t l = 0; l < lanes; ++l) total += dot[l];
    const float a = r * total / width, constant = width * a * eps * r * r;
    for (int64_t c = 0; c < width; ++c) {
      const float p = dx[c];
      dweight[c] += dy[c] * p * r;
      dx[c] = p * (r * dy[c] * weight[c] - r * r * a * p - constant);
    }
  }
}
