// Digits with changed pixels, to ask what a trained net makes of them.
#pragma once

#include <numeric>

#include "../../../autograd/ops.h"
#include "digits.h"

namespace isobar::depth {

// The first n, or all.
inline Batch first_of(const Part& part, int64_t n) {
  std::vector<int64_t> numbers(static_cast<size_t>(std::min(n, part.size())));
  std::iota(numbers.begin(), numbers.end(), 0);
  return part.batch(numbers);
}

// Pixels, from 0 to 1, become scale · pixel + shift + N(0, noise²).
struct Change {
  const char* name;
  double scale = 1, shift = 0, noise = 0;
};
constexpr Change changes[] = {
    {"same"}, {"half", 0.5}, {"double", 2}, {"shifted", 1, 0.5}, {"noisy", 1, 0, 0.5}};

inline Batch changed(const Batch& images, const Change& change) {
  Tensor x = images.x * change.scale + ((change.scale - 1) * 0.1307 + change.shift) / 0.3081;
  if (change.noise > 0) x = x + Rng(1).normal(x.shape(), 0, change.noise / 0.3081);
  return {x, images.y};
}

}  // namespace isobar::depth
