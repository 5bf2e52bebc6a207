// Your layer under the name `mine`, for decay_study and train_lm: --norm mine. And y = x, for comparison:
// --norm nothing.
#include <isobar/nn/activation.h>
#include <isobar/nn/norm.h>

#include "a11.h"

const bool registered = isobar::register_norm(
    "mine", [](const Shape& width, const isobar::NormOptions&) { return make_layer(width); });
const bool compared = isobar::register_norm(
    "nothing", [](const Shape&, const isobar::NormOptions&) { return std::make_unique<isobar::Identity>(); });
