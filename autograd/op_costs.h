// The least cost of an op, by its category and shapes, for a profile.
//
//   product       2 · M · N · K flops forward, and the same again for each input that wants a gradient
//   convolution   2 flops for each value of a window, channel and output, and the same again for each input
//   attention     4 flops for each channel of each query and key forward, 8 backward; what a causal
//                 mask saves is not taken off
//   product_loss  three products forward, none in backward
//   view          nothing
//   lookup        the bytes of the result, read and written
//   plain         the bytes of inputs and result forward; backward those, and of the gradients
#pragma once

#include "profile.h"

namespace isobar {

// Returns the flops, bytes, rows and product of the op, and its module.
Activity cost_of(const Node& node, Activity::Part part);

}  // namespace isobar
