// A row of the jury on other examples: with an extent of 1, and computed in f32.
#pragma once

#include <vector>

#include "jury.h"

namespace isobar {

// The row's layer on x (N, 1, …) for x (N, …): through reshapes around it, and, of a wrong layer, as it is if
// it takes such an x.
std::vector<JuryLayer> with_extent_one(const JuryLayer& layer, const Rng& rng);
// The row's layer with all that it computes in f32: x and state are cast to f32, y is cast back. In f64 its
// forward is a staircase.
JuryLayer in_f32(const JuryLayer& layer);

// Whether gradients of `layer` are wrong: by differences in f64 of `smooth`, which computes the same without
// rounding, along each element, at parameters moved by noise. An error above `tolerance` times the largest of
// its tensor counts. Independent of check_layer.
bool has_wrong_gradient(const JuryLayer& layer, const JuryLayer& smooth, const Rng& rng, double tolerance);

}  // namespace isobar
