// Rng: random numbers without state, by Philox4x32-10 (Salmon et al. 2011, "Parallel random numbers: as easy
// as 1, 2, 3"). An Rng holds a 64-bit key; its draw number i is a pure function of (key, i), so results
// depend neither on threads nor on the order of calls. New streams are made by name:
//
//   Rng rng(1);
//   Tensor w = rng.split("block3.fc1").normal({512, 512}, 0, 0.02);
//
// Two draws from the same Rng give the same numbers: split it for each use. (parameters() of nn/model.h
// throws Error if two parameters of a model were drawn with one key.) Normal numbers come from the inverse of
// the normal distribution function (Wichura 1988, algorithm AS 241), never from a standard library's
// distribution, whose results differ between libraries. Values are computed in double and rounded to the
// tensor's dtype: an f32 and an f64 network of one Rng start from the same weights.
#pragma once

#include <cstdint>
#include <string_view>

#include "tensor.h"

namespace isobar {

class Rng {
 public:
  explicit Rng(uint64_t seed) : key_(seed) {}

  // Returns an independent stream, named by a text or a number.
  Rng split(std::string_view name) const;
  Rng split(uint64_t number) const;
  uint64_t key() const { return key_; }

  uint64_t bits(uint64_t index) const;      // draw `index` as 64 random bits
  double uniform_at(uint64_t index) const;  // draw `index`, uniform in (0, 1)
  double normal_at(uint64_t index) const;   // draw `index`, standard normal
  uint64_t below(uint64_t bound,
                 uint64_t index) const;  // draw `index`, in [0, bound); throws Error for bound 0

  // Writes the uniform draws first, first + 1, …: much faster than one at a time. Throws Error unless first
  // is even.
  void uniforms(uint64_t first, std::span<double> numbers) const;

  // Returns a tensor, f32 or f64, whose element i is draw i, uniform in (low, high) before rounding to the
  // dtype, which may give low or high.
  Tensor uniform(const Shape& shape, double low = 0, double high = 1, Dtype dtype = Dtype::f32) const;
  // Returns a tensor, f32 or f64, whose element i is draw i, normal with this mean and standard deviation.
  Tensor normal(const Shape& shape, double mean = 0, double std = 1, Dtype dtype = Dtype::f32) const;
  // Returns integers in [0, bound), i64. Throws Error unless bound > 0.
  Tensor integers(const Shape& shape, int64_t bound) const;

 private:
  uint64_t key_;
};

// Returns the standard normal quantile of p in (0, 1), by Wichura 1988, algorithm AS 241 (PPND16); relative
// error about 1e-16.
double normal_quantile(double p);

}  // namespace isobar
