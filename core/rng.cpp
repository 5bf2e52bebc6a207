#include "rng.h"

#include <array>

#include "kernels/philox.h"
#include "kernels/quantile.h"
#include "parallel.h"
#include "raw.h"

namespace isobar {
namespace {

// The middle of one of 2^53 equal cells of (0, 1): never 0, never 1.
double to_unit(uint64_t bits) { return (static_cast<double>(bits >> 11) + 0.5) * 0x1p-53; }

// Bits as a fraction of 2^64, times bound, rounded down.
uint64_t scaled(uint64_t bits, uint64_t bound) {
  return static_cast<uint64_t>((static_cast<unsigned __int128>(bits) * bound) >> 64);
}

constexpr int block_draws = 2 * kernels::philox_lanes;  // draws from one call of philox
constexpr int draws_at_once = kernels::quantile_block;  // draws that are transformed together
static_assert(draws_at_once % block_draws == 0);

// The bits of draws first, first + 1, …, at most `draws_at_once` and no more than `left`; first is even.
struct Bits {
  Bits(uint64_t key, uint64_t first, int64_t left)
      : count(static_cast<int>(std::min<int64_t>(draws_at_once, left))) {
    for (int i = 0; i < count; i += block_draws)
      kernels::philox<kernels::philox_lanes>((first + i) / 2, key, words + i);
  }
  const int count;
  uint64_t words[draws_at_once];
};

// Fills a tensor in groups of draws_at_once elements: transform(bits of the group's draws, its elements).
template <class T, class Transform>
Tensor draw(const Shape& shape, uint64_t key, const Transform& transform) {
  Tensor result(shape, dtype_of<T>());
  T* y = raw::write<T>(result);
  parallel_for(result.numel(), 16 * draws_at_once, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i += draws_at_once) transform(Bits(key, i, end - i), y + i);
  });
  raw::storage(result)->drawn_with(key);
  return result;
}

}  // namespace

double normal_quantile(double p) {
  double z;
  kernels::normal_quantiles(1, &p, &z);
  return z;
}

Rng Rng::split(std::string_view name) const {
  uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (unsigned char c : name) hash = (hash ^ c) * 0x100000001b3;
  return split(hash);
}

// The child's key is a Philox block of the parent's key at a counter that no draw reaches (top bit set).
Rng Rng::split(uint64_t number) const {
  std::array<uint64_t, 2> words;
  kernels::philox<1>(number | uint64_t{1} << 63, key_, words.data());
  return Rng(words[0] ^ (number >> 63) * 0x9E3779B97F4A7C15);
}

uint64_t Rng::bits(uint64_t index) const {
  std::array<uint64_t, 2> words;
  kernels::philox<1>(index / 2, key_, words.data());
  return words[index % 2];
}
double Rng::uniform_at(uint64_t index) const { return to_unit(bits(index)); }

void Rng::uniforms(uint64_t first, std::span<double> numbers) const {
  check(first % 2 == 0, "rng: uniforms wants an even first draw, got {}", first);
  for (size_t i = 0; i < numbers.size(); i += draws_at_once) {
    const Bits bits(key_, first + i, numbers.size() - i);
    for (int j = 0; j < bits.count; ++j) numbers[i + j] = to_unit(bits.words[j]);
  }
}

double Rng::normal_at(uint64_t index) const { return normal_quantile(uniform_at(index)); }

uint64_t Rng::below(uint64_t bound, uint64_t index) const {
  check(bound > 0, "rng: wanted a bound above 0");
  return scaled(bits(index), bound);
}

Tensor Rng::uniform(const Shape& shape, double low, double high, Dtype dtype) const {
  return dispatch_float("uniform", dtype, [&]<class T>() {
    return draw<T>(shape, key_, [=](const Bits& bits, T* y) {
      for (int i = 0; i < bits.count; ++i) y[i] = static_cast<T>(low + (high - low) * to_unit(bits.words[i]));
    });
  });
}

Tensor Rng::normal(const Shape& shape, double mean, double std, Dtype dtype) const {
  return dispatch_float("normal", dtype, [&]<class T>() {
    return draw<T>(shape, key_, [=](const Bits& bits, T* y) {
      double p[draws_at_once], z[draws_at_once];
      for (int i = 0; i < bits.count; ++i) p[i] = to_unit(bits.words[i]);
      kernels::normal_quantiles(bits.count, p, z);
      for (int i = 0; i < bits.count; ++i) y[i] = static_cast<T>(mean + std * z[i]);
    });
  });
}

Tensor Rng::integers(const Shape& shape, int64_t bound) const {
  check(bound > 0, "integers: wanted a bound above 0, got {}", bound);
  return draw<int64_t>(shape, key_, [=](const Bits& bits, int64_t* y) {
    for (int i = 0; i < bits.count; ++i) y[i] = static_cast<int64_t>(scaled(bits.words[i], bound));
  });
}

}  // namespace isobar
