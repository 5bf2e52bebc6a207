// A row of the jury on other examples: with an extent of 1, and computed in f32.
#pragma once

#include "jury.h"

namespace isobar {

// The row's layer on x (N, 1, …) for x (N, …), through reshapes around it.
JuryLayer with_extent_one(const JuryLayer& layer, const Rng& rng);
// The row's layer with all that it computes in f32: x and state are cast to f32, y is cast back. In f64 its
// forward is a staircase.
JuryLayer in_f32(const JuryLayer& layer);

}  // namespace isobar
