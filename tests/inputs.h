// Input makers for the rows of the tables: a distribution and a shape, `normal(3, 5)`. Each gives f64 or
// integer tensors, always the same ones for the same key.
#pragma once

#include <functional>
#include <utility>

#include "../core/raw.h"
#include "../core/rng.h"

namespace isobar {

using InputMaker = std::function<Tensor(const Rng&)>;

template <class... Extents>
Shape shape_of(Extents... extents) {
  return Shape{static_cast<int64_t>(extents)...};
}

// Standard normal numbers.
template <class... Extents>
InputMaker normal(Extents... extents) {
  return [s = shape_of(extents...)](const Rng& rng) { return rng.normal(s, 0, 1, Dtype::f64); };
}

// Normal numbers with this standard deviation.
template <class... Extents>
InputMaker scaled(double std, Extents... extents) {
  return [std, s = shape_of(extents...)](const Rng& rng) { return rng.normal(s, 0, std, Dtype::f64); };
}

// Uniform in (low, high).
template <class... Extents>
InputMaker uniform(double low, double high, Extents... extents) {
  return
      [low, high, s = shape_of(extents...)](const Rng& rng) { return rng.uniform(s, low, high, Dtype::f64); };
}

// For logarithms, roots and denominators.
template <class... Extents>
InputMaker positive(Extents... extents) {
  return uniform(0.3, 3, extents...);
}

// Of either sign, at least 0.1 from zero: a difference must not step over the kink of relu.
template <class... Extents>
InputMaker off_zero(Extents... extents) {
  return [s = shape_of(extents...)](const Rng& rng) {
    std::vector<double> values(s.numel());
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = (rng.below(2, i) == 0 ? -1 : 1) * (0.1 + 2 * rng.uniform_at(i));
    return tensor(s, values);
  };
}

// Multiples of 0.1 in random order, no two equal: a difference must not change which one is the maximum.
template <class... Extents>
InputMaker distinct(Extents... extents) {
  return [s = shape_of(extents...)](const Rng& rng) {
    std::vector<double> values(s.numel());
    for (size_t i = 0; i < values.size(); ++i) values[i] = 0.1 * static_cast<double>(i);
    for (size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[rng.below(i, i)]);
    return tensor(s, values);
  };
}

// i64 indices in [0, bound).
template <class... Extents>
InputMaker indices(int64_t bound, Extents... extents) {
  return [bound, s = shape_of(extents...)](const Rng& rng) { return rng.integers(s, bound); };
}

// The same as i32.
template <class... Extents>
InputMaker indices_i32(int64_t bound, Extents... extents) {
  return [bound, s = shape_of(extents...)](const Rng& rng) {
    return raw::cast(rng.integers(s, bound), Dtype::i32);
  };
}

// A mask, true with probability one half.
template <class... Extents>
InputMaker mask(Extents... extents) {
  return [s = shape_of(extents...)](const Rng& rng) { return raw::cast(rng.integers(s, 2), Dtype::boolean); };
}

// i64 targets, every third one replaced by `ignored`.
template <class... Extents>
InputMaker targets(int64_t bound, int64_t ignored, Extents... extents) {
  return [bound, ignored, s = shape_of(extents...)](const Rng& rng) {
    const Tensor drawn = rng.integers(s, bound);
    std::vector<int64_t> values = drawn.to_vector<int64_t>();
    for (size_t i = 0; i < values.size(); i += 3) values[i] = ignored;
    return tensor(s, values);
  };
}

}  // namespace isobar
