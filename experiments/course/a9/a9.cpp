#include "a9.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
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

// As many floats as a register holds, and their bits: vectors of the compiler, for any machine.
#ifdef __AVX2__
constexpr int64_t lanes = 8;
#else
constexpr int64_t lanes = 4;
#endif
typedef float Lanes __attribute__((vector_size(lanes * sizeof(float))));
typedef int32_t Ints __attribute__((vector_size(lanes * sizeof(float))));
typedef uint32_t Bits __attribute__((vector_size(lanes * sizeof(float))));

inline Lanes all(float x) { return x - Lanes{}; }

// The `count` numbers at x, and `rest` in the lanes that are left.
inline Lanes load(const float* x, int64_t count, float rest) {
  Lanes v = all(rest);
  if (count == lanes)
    std::memcpy(&v, x, sizeof v);
  else
    for (int64_t l = 0; l < count; ++l) v[l] = x[l];
  return v;
}

inline void store(Lanes v, float* y, int64_t count) {
  if (count == lanes)
    std::memcpy(y, &v, sizeof v);
  else
    for (int64_t l = 0; l < count; ++l) y[l] = v[l];
}

// Calls f(c, count) for a row's blocks: count is `lanes`, but for the last one perhaps. Two at a time, so that the
// processor has enough to do.
template <class F>
inline void each_block(int64_t width, F f) {
  int64_t c = 0;
  for (; c + 2 * lanes <= width; c += 2 * lanes) {
    f(c, lanes);
    f(c + lanes, lanes);
  }
  for (; c + lanes <= width; c += lanes) f(c, lanes);
  if (c < width) f(c, width - c);
}

inline Lanes larger(Lanes a, Lanes b) { return a > b ? a : b; }

// a · b + c, rounded once. Where c is a product as well, compilers differ in which of the two they do not round.
inline Lanes fused(Lanes a, Lanes b, Lanes c) {
  for (int64_t l = 0; l < lanes; ++l) c[l] = std::fma(a[l], b[l], c[l]);
  return c;
}

inline float sum_of(Lanes v) {
  float sum = 0;
  for (int64_t l = 0; l < lanes; ++l) sum += v[l];
  return sum;
}

inline float largest_of(Lanes v) {
  float largest = v[0];
  for (int64_t l = 1; l < lanes; ++l) largest = v[l] > largest ? v[l] : largest;
  return largest;
}

// exp x = 2^n · exp f with n = round(x / ln 2) and |f| ≤ ln 2 / 2.
inline Lanes exponential(Lanes x) {
  const Lanes least = all(-104);          // exp of less is 0
  const Lanes magic = all(12582912);      // 1.5 · 2^23: adding it rounds to a whole number
  const Lanes z = x < least ? least : x;  // NaN stays
  const Lanes shifted = z * 1.44269504f + magic;
  const Lanes n = shifted - magic;
  const Lanes f = z - n * 0.693359375f + n * 2.12194440e-4f;  // ln 2 in two parts; the first product is exact
  Lanes p = f * (1 / 5040.0f) + 1 / 720.0f;                   // Taylor's polynomial, degree 7
  p = p * f + 1 / 120.0f;
  p = p * f + 1 / 24.0f;
  p = p * f + 1 / 6.0f;
  p = p * f + 0.5f;
  p = p * f + 1.0f;
  p = p * f + 1.0f;
  // 2^n may be no normal number: two factors 2^(n/2).
  const Ints power = std::bit_cast<Ints>(shifted) - std::bit_cast<Ints>(magic), half = power >> 1;
  const Bits first = std::bit_cast<Bits>(half + 127) << 23, second = std::bit_cast<Bits>(power - half + 127)
                                                                     << 23;
  return p * std::bit_cast<Lanes>(first) * std::bit_cast<Lanes>(second);
}

}  // namespace

void expf_lanes(const float* x, float* y, int64_t n) {
  each_block(n, [&](int64_t c, int64_t count) { store(exponential(load(x + c, count, 0)), y + c, count); });
}

// Task 3.
namespace {

// Each lane has a maximum and a sum of its own; a block costs one exp(old − new maximum) a lane.
struct Online {
  float largest, sum;
};

Online online(const float* x, int64_t width) {
  Lanes largest = all(std::numeric_limits<float>::lowest()), sum = all(0);
  each_block(width, [&](int64_t c, int64_t count) {
    const Lanes v = load(x + c, count, -std::numeric_limits<float>::infinity()), now = larger(v, largest);
    sum = fused(sum, exponential(largest - now), exponential(v - now));
    largest = now;
  });
  const float of_all = largest_of(largest);
  return {of_all, sum_of(sum * exponential(largest - of_all))};
}

}  // namespace

void softmax(const float* x, float* y, int64_t rows, int64_t width) {
  for (int64_t n = 0; n < rows; ++n, x += width, y += width) {
    const Online row = online(x, width);
    const float scale = 1 / row.sum;
    each_block(width, [&](int64_t c, int64_t count) {
      store(exponential(load(x + c, count, 0) - row.largest) * scale, y + c, count);
    });
  }
}

// Task 4.
namespace {

float maximum(const float* x, int64_t width) {
  const float least = -std::numeric_limits<float>::infinity();
  Lanes largest = all(least);
  each_block(width, [&](int64_t c, int64_t count) { largest = larger(load(x + c, count, least), largest); });
  return largest_of(largest);
}

struct Sums {
  float first, squares;
};

// y = exp(x − largest), its sum and its squares' sum
Sums exponentials(const float* x, float* y, int64_t width, float largest) {
  Lanes sum = all(0), squares = all(0);
  each_block(width, [&](int64_t c, int64_t count) {
    const Lanes e = exponential(load(x + c, count, -std::numeric_limits<float>::infinity()) - largest);
    store(e, y + c, count);
    sum += e;
    squares += e * e;
  });
  return {sum_of(sum), sum_of(squares)};
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
    Lanes dot = all(0);
    each_block(width, [&](int64_t c, int64_t count) {
      const Lanes p = exponential(load(x + c, count, 0) - saved[n].largest) * scale;
      store(p, dx + c, count);
      dot += load(dy + c, count, 0) * load(weight + c, count, 0) * p;
    });
    const float a = r * sum_of(dot) / width, constant = width * a * eps * r * r;
    for (int64_t c = 0; c < width; ++c) {
      const float p = dx[c];
      dweight[c] += dy[c] * p * r;
      dx[c] = p * (r * dy[c] * weight[c] - r * r * a * p - constant);
    }
  }
}
