// difference: where two runs of a layer differ. Every check of check_layer that compares two runs says it so.
#pragma once

#include "../../core/fields.h"

namespace isobar {

// Of the first tensor that differs, the element that is farthest apart: "gradient of x [2, 0]: wanted 0.5,
// got 0.7"; "" where all agree. They agree if they are apart by at most `tolerance` times the largest element of
// their tensor, and four times what this tensor moves between `wanted` and `moved`, if that is given; with
// tolerance 0 they are equal. NaN equals NaN.
std::string difference(const std::vector<NamedTensor>& got, const std::vector<NamedTensor>& wanted,
                       double tolerance = 0, const std::vector<NamedTensor>& moved = {});

// "gradient of x [2, 0] is NaN": the first value that is NaN or infinite, or "".
std::string not_finite(const std::vector<NamedTensor>& values);

}  // namespace isobar
