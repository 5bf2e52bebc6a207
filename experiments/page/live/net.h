// decay_study by the definition (tests/spec/spec.h): the nets of ../../nets/decay/net.h for one seed, in f32, as a
// browser runs them. The bits are those of the native study.
#pragma once

#include <functional>

#include "../../nets/decay/config.h"
#include "formula.h"

namespace isobar::live {

// What becomes known of a layer, 0 the first: going up its std, and that of its norm (NaN without one);
// coming down, from the last layer to the first, the norm of its first weight's gradient.
struct Listener {
  std::function<void(int64_t layer, double output_std, double norm_std)> up;
  std::function<void(int64_t layer, double weight_gradient_norm)> down;
};

// What the norm "formula" is.
void set_formula(const Formula& formula);

// Runs the net of this seed forward and back. Returns the std of its input.
double run(const decay::Config& config, uint64_t seed, const Listener& listener);

}  // namespace isobar::live
