// The reference: 87 nets that PyTorch measured (fixtures/reference_depth.jsonl, which travels inside the
// program), and how a measurement of ours is held against it. Its arithmetic is f32, its statistics are
// summed in f64, as ours.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "config.h"

namespace isobar::decay {

// One quantity of one layer, over the reference's seeds.
struct ReferenceCell {
  int64_t layer;    // 1 the first
  double median;    // of the finite values
  double log10_sd;  // standard deviation of log10 of the values that are neither 0 nor infinite; 0 if none
  int64_t zeros, nonfinite;
};

struct Reference {
  Config config;  // with the reference's number of seeds
  std::vector<ReferenceCell> output_std, weight_gradient_norm;
};

// All of them. Throws Error when the built-in text is not what it should be.
std::vector<Reference> depth_reference();

// Our values over our seeds, beside a cell of the reference.
struct Comparison {
  double median;
  int64_t zeros, nonfinite;
  double log10_ratio, tolerance;  // of the medians; NaN where one is 0 or there is none
  bool agrees;
};

// Agreement means: |log10(our median / its median)| is at most 4 standard errors of the difference of two
// medians, 4 · 1.253 · log10_sd · √(1/its seeds + 1/our seeds), which is 1.6 log10_sd for 20 seeds each, or
// at most 0.03 (7 %) where the spread is less; and the shares of zeros and of overflows differ by at most 3
// in 20.
Comparison compare(const ReferenceCell& reference, int64_t reference_seeds, std::span<const double> ours);

}  // namespace isobar::decay
