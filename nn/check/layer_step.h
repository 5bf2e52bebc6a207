// LayerStep: the results of one training step of a layer, by name, and where two of them differ.
#pragma once

#include <string>
#include <vector>

#include "../../core/fields.h"

namespace isobar {

struct LayerStep {
  Tensor y;
  // "y", "gradient of x" and of every parameter, then the state that is not trained, as the step left it.
  std::vector<NamedTensor> values;
  bool dy_kept = true;  // backward did not write to the given dy
  std::string idle;     // recorded ops that y does not depend on: "square, mean"

  const Tensor& operator[](const std::string& name) const;
};

// Of the first tensor that differs, the element that is farthest apart: "gradient of x [2, 0]: wanted 0.5, got
// 0.7"; "" where all agree. They agree if they are apart by at most `tolerance` times the largest element of
// their tensor, and four times what this tensor moves between `wanted` and `moved`, if that is given; with
// tolerance 0 they are equal. NaN equals NaN.
std::string difference(const std::vector<NamedTensor>& got, const std::vector<NamedTensor>& wanted,
                       double tolerance = 0, const std::vector<NamedTensor>& moved = {});

// "gradient of x [2, 0] is NaN": the first value that is NaN or infinite, or "".
std::string not_finite(const std::vector<NamedTensor>& values);

}  // namespace isobar
