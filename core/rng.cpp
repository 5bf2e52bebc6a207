#include "rng.h"

#include <array>
#include <cmath>

#include "parallel.h"

namespace isobar {
namespace {

// One Philox block: 128 bits from a 64-bit counter and a 64-bit key, as two 64-bit words.
std::array<uint64_t, 2> philox(uint64_t counter, uint64_t key) {
  uint32_t x0 = static_cast<uint32_t>(counter), x1 = static_cast<uint32_t>(counter >> 32), x2 = 0, x3 = 0;
  uint32_t k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t p0 = uint64_t{0xD2511F53} * x0;
    const uint64_t p1 = uint64_t{0xCD9E8D57} * x2;
    x0 = static_cast<uint32_t>(p1 >> 32) ^ x1 ^ k0;
    x1 = static_cast<uint32_t>(p1);
    x2 = static_cast<uint32_t>(p0 >> 32) ^ x3 ^ k1;
    x3 = static_cast<uint32_t>(p0);
    k0 += 0x9E3779B9;  // golden ratio
    k1 += 0xBB67AE85;  // sqrt(3) − 1
  }
  return {x0 | uint64_t{x1} << 32, x2 | uint64_t{x3} << 32};
}

// The middle of one of 2^53 equal cells of (0, 1): never 0, never 1.
double to_unit(uint64_t bits) { return (static_cast<double>(bits >> 11) + 0.5) * 0x1p-53; }

double horner(double x, const double (&c)[8]) {
  double y = c[7];
  for (int i = 6; i >= 0; --i) y = y * x + c[i];
  return y;
}

// Element i = transform(bits of draw i), two draws from each Philox block.
template <class T, class Transform>
Tensor draw(const Shape& shape, uint64_t key, const Transform& transform) {
  Tensor result(shape, dtype_of<T>());
  T* y = result.write<T>();
  const int64_t n = result.numel();
  parallel_for(chunk_count(n, 2), 1 << 12, [&](int64_t begin, int64_t end) {
    for (int64_t block = begin; block < end; ++block) {
      const auto words = philox(block, key);
      y[2 * block] = static_cast<T>(transform(words[0]));
      if (2 * block + 1 < n) y[2 * block + 1] = static_cast<T>(transform(words[1]));
    }
  });
  return result;
}

}  // namespace

double normal_quantile(double p) {
  static constexpr double a[8] = {3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3,
                                  1.3731693765509461125e4, 4.5921953931549871457e4, 6.7265770927008700853e4,
                                  3.3430575583588128105e4, 2.5090809287301226727e3};
  static constexpr double b[8] = {1.0,
                                  4.2313330701600911252e1,
                                  6.8718700749205790830e2,
                                  5.3941960214247511077e3,
                                  2.1213794301586595867e4,
                                  3.9307895800092710610e4,
                                  2.8729085735721942674e4,
                                  5.2264952788528545610e3};
  static constexpr double c[8] = {1.42343711074968357734e0,  4.63033784615654529590e0,
                                  5.76949722146069140550e0,  3.64784832476320460504e0,
                                  1.27045825245236838258e0,  2.41780725177450611770e-1,
                                  2.27238449892691845833e-2, 7.74545014278341407640e-4};
  static constexpr double d[8] = {1.0,
                                  2.05319162663775882187e0,
                                  1.67638483018380384940e0,
                                  6.89767334985100004550e-1,
                                  1.48103976427480074590e-1,
                                  1.51986665636164571966e-2,
                                  5.47593808499534494600e-4,
                                  1.05075007164441684324e-9};
  static constexpr double e[8] = {6.65790464350110377720e0,  5.46378491116411436990e0,
                                  1.78482653991729133580e0,  2.96560571828504891230e-1,
                                  2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                  2.71155556874348757815e-5, 2.01033439929228813265e-7};
  static constexpr double f[8] = {1.0,
                                  5.99832206555887937690e-1,
                                  1.36929880922735805310e-1,
                                  1.48753612908506148525e-2,
                                  7.86869131145613259100e-4,
                                  1.84631831751005468180e-5,
                                  1.42151175831644588870e-7,
                                  2.04426310338993978564e-15};
  const double q = p - 0.5;
  if (std::abs(q) <= 0.425) {
    const double r = 0.180625 - q * q;
    return q * horner(r, a) / horner(r, b);
  }
  const double r = std::sqrt(-std::log(q < 0 ? p : 1 - p));
  const double z = r <= 5 ? horner(r - 1.6, c) / horner(r - 1.6, d) : horner(r - 5, e) / horner(r - 5, f);
  return q < 0 ? -z : z;
}

Rng Rng::split(std::string_view name) const {
  uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (unsigned char c : name) hash = (hash ^ c) * 0x100000001b3;
  return split(hash);
}

// The child's key is a Philox block of the parent's key at a counter that no draw reaches (top bit set).
Rng Rng::split(uint64_t number) const {
  const auto words = philox(number | uint64_t{1} << 63, key_);
  return Rng(words[0] ^ (number >> 63) * 0x9E3779B97F4A7C15);
}

uint64_t Rng::bits(uint64_t index) const { return philox(index / 2, key_)[index % 2]; }
double Rng::uniform_at(uint64_t index) const { return to_unit(bits(index)); }
double Rng::normal_at(uint64_t index) const { return normal_quantile(uniform_at(index)); }

uint64_t Rng::below(uint64_t bound, uint64_t index) const {
  check(bound > 0, "rng: wanted a bound above 0");
  return static_cast<uint64_t>((static_cast<unsigned __int128>(bits(index)) * bound) >> 64);
}

Tensor Rng::uniform(const Shape& shape, double low, double high, Dtype dtype) const {
  return dispatch_float("uniform", dtype, [&]<class T>() {
    return draw<T>(shape, key_, [=](uint64_t bits) { return low + (high - low) * to_unit(bits); });
  });
}

Tensor Rng::normal(const Shape& shape, double mean, double std, Dtype dtype) const {
  return dispatch_float("normal", dtype, [&]<class T>() {
    return draw<T>(shape, key_, [=](uint64_t bits) { return mean + std * normal_quantile(to_unit(bits)); });
  });
}

Tensor Rng::integers(const Shape& shape, int64_t bound) const {
  check(bound > 0, "integers: wanted a bound above 0, got {}", bound);
  return draw<int64_t>(shape, key_, [=](uint64_t bits) {
    return static_cast<int64_t>((static_cast<unsigned __int128>(bits) * static_cast<uint64_t>(bound)) >> 64);
  });
}

}  // namespace isobar
