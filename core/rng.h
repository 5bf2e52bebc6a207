// Rng: random numbers without state, by Philox4x32-10 (Salmon et al. 2011, "Parallel random numbers: as easy
// as 1, 2, 3"). An Rng holds a 64-bit key; its draw number i is a pure function of (key, i), so results
// depend neither on threads nor on the order of calls. New streams are made by name:
//
//   Rng rng(1);
//   Tensor w = rng.split("block3.fc1").normal({512, 512}, 0, 0.02);
//
// Two draws from the same Rng give the same numbers: split before each use. (parameters() of nn/model.h
// refuses a model of which two parameters were drawn with one key.) Normal numbers come from the
// inverse of the normal distribution function (Wichura 1988, algorithm AS 241), never from a standard
// library's distribution, whose results differ between libraries. Values are computed in double and rounded
// to the tensor's dtype: an f32 and an f64 network of one Rng start from the same weights.
#pragma once

#include <cstdint>
#include <string_view>

#include "tensor.h"

namespace isobar {

class Rng {
 public:
  explicit Rng(uint64_t seed) : key_(seed) {}

  // An independent stream, named by a text or a number.
  Rng split(std::string_view name) const;
  Rng split(uint64_t number) const;
  uint64_t key() const { return key_; }

  // Draw `index` as 64 random bits / uniform in (0, 1) / standard normal / uniform integer in [0, bound),
  // which throws Error for bound 0.
  uint64_t bits(uint64_t index) const;
  double uniform_at(uint64_t index) const;
  double normal_at(uint64_t index) const;
  uint64_t below(uint64_t bound, uint64_t index) const;

  // The uniform draws first, first + 1, … as doubles, many times faster than one by one. Throws Error unless
  // first is even.
  void uniforms(uint64_t first, std::span<double> numbers) const;

  // Tensors whose element i is draw i, f32 or f64. Uniform in (low, high) before it is rounded to dtype,
  // which may reach the ends; normal with this mean and std.
  Tensor uniform(const Shape& shape, double low = 0, double high = 1, Dtype dtype = Dtype::f32) const;
  Tensor normal(const Shape& shape, double mean = 0, double std = 1, Dtype dtype = Dtype::f32) const;
  // Integers in [0, bound), i64. Throws Error unless bound > 0.
  Tensor integers(const Shape& shape, int64_t bound) const;

 private:
  uint64_t key_;
};

// The standard normal quantile of p in (0, 1), by Wichura 1988, algorithm AS 241 (PPND16); relative error
// about 1e-16.
double normal_quantile(double p);

}  // namespace isobar
