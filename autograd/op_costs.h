// What an op takes at least, told from its name and its shapes; and the marks that ops set on a profile's timeline.
//
//   matrix products       2 · M · N · K flops forward, and the same again for each input that wants a gradient
//   attention             4 flops for each channel of each query and key forward, 8 backward; what a causal
//                         mask saves is not taken off
//   linear_cross_entropy  three products forward, none in backward
//   views                 nothing
//   other ops             the bytes of inputs and result forward; backward those, and of the gradients
#pragma once

#include <span>

#include "../core/profile.h"
#include "tape.h"

namespace isobar {

// An op by its shapes. Of more than eight inputs (concat), the first eight count.
struct OpShapes {
  const char* name;
  const Shape& y;
  Dtype dtype;
  std::span<const Shape* const> inputs;  // null: undefined
  Wants wanted = {};                     // by backward
};
// Flops, bytes, rows and product of the op.
Activity cost_of(const OpShapes& op, Activity::Part part);

// The interval that ends now was spent on the op: to compute it, and in its backward.
void mark_recorded(Timeline& timeline, const Node& node);
void mark_walked(Timeline& timeline, const Node& node);

}  // namespace isobar
