// How far the median over the seeds lies from the median that theory predicts, in standard errors.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "theory.h"

namespace isobar::decay {

// z = ln(median / predicted median) / SE. SE = √(π/2) sd / √seeds is the standard error of the median of normal
// numbers; sd is that of the logarithms of the positive finite values, or the predicted σ where that is larger
// (few seeds can lie close together by chance).
//
// Where most seeds are 0 or overflow there is no z (NaN): they agree when the prediction lies outside the
// range of normal f32 numbers too, below 1.2e-38 or above 3.4e38.
struct Agreement {
  double z;
  bool agrees;  // |z| ≤ 3
};
Agreement agreement_of(const Prediction& theory, std::span<const double> values);

// The cell of largest |z|, and how many cells there are of each kind.
struct Agreements {
  int64_t with_z = 0, out_of_range = 0, disagreeing = 0;
  double largest_z = 0;  // |z|
  std::string where;     // "std.output of layer 8 of plain he_normal none sum D=8"

  void add(const Agreement& agreement, const std::string& name);
};

}  // namespace isobar::decay
