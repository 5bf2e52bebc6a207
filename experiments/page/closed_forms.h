// The closed forms of nets with norms (nets/decay/rows.h), beside what PyTorch measured of them.
#pragma once

#include "charts/plot.h"

namespace isobar::facts {

struct ClosedForms {
  int64_t nets = 0, medians = 0, within = 0;  // of these medians: within 3 standard errors
  double largest = 0;                         // the largest deviation, in standard errors
};
// Of all nets with a norm whose closed form knows the width.
ClosedForms beside_pytorch();

// By what factor infinite width is off from PyTorch's median: the gradient of the first of 1000 post-norm blocks
// with He's weights, over that of the last one.
double lost_to_width();

// The gradient of each layer over that of the last one, 1000 layers: at the width of the reference, at infinite
// width, and PyTorch's medians.
Plot gradients_by_layer();

}  // namespace isobar::facts
