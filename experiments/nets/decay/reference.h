// The reference: 87 nets that PyTorch measured (fixtures/reference_depth.jsonl, inside the program), and how
// ours are compared with it. Both compute in f32 and sum statistics in f64.
#pragma once

#include "../../run/run.h"
#include "net.h"

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

// Agreement: |log10(our median / its median)| is at most 0.03 (7 %) or 4 standard errors of the difference of
// two medians, 4 · 1.253 · log10_sd · √(1/its seeds + 1/our seeds); and the shares of zeros and of overflows
// differ by at most 3 in 20.
Comparison compare(const ReferenceCell& reference, int64_t reference_seeds, std::span<const double> ours);

// --- How far the median over the seeds lies from the median that theory predicts, in standard errors.

// z = ln(median / predicted median) / SE. SE = √(π/2) sd / √seeds is the standard error of the median of
// normal numbers; sd is that of the logarithms of the positive finite values, or the predicted σ where that
// is larger (few seeds can lie close together by chance). SE has a hundred-thousandth more, for rounding and
// the eps of norms: all that tells the stds of nets apart that end with a LayerNorm.
//
// Where most seeds are 0 or overflow there is no z (NaN): they agree when the prediction lies outside the
// range of normal f32 numbers too, below 1.2e-38 or above 3.4e38.
struct Agreement {
  double z;
  bool agrees;  // |z| ≤ 3
};
Agreement agreement_of(const Prediction& theory, std::span<const double> values);
// The same of a median of so many seeds, the sd that of their logarithms, and `rounding` that of the median.
Agreement agreement_of(const Prediction& theory, double median, double sd, int64_t seeds, double rounding);

// The cell of largest |z|, and how many cells there are of each kind.
struct Agreements {
  int64_t with_z = 0, out_of_range = 0, disagreeing = 0;
  double largest_z = 0;  // |z|
  std::string where;     // "std.output of layer 8 of plain he_normal none sum D=8"

  void add(const Agreement& agreement, const std::string& name);
};

// Expects our medians to lie in the ranges that PyTorch 1.13 gave for the presets blog8, 8 × [Linear(512, 512)
// → ReLU], x (32, 512), loss = sum, and blog8_rmsnorm, the same with RMSNorm before each ReLU (f32, seeds 0 to
// 19, sums in f32).
void expect_blog8(Run& run, const std::vector<Signals>& runs, bool rmsnorm);

}  // namespace isobar::decay
