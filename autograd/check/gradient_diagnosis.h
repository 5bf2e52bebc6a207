// Gradient diagnosis: finds the likely cause of a wrong backward pass from the numbers alone.
//
// J is the Jacobian by differences, (elements of y, elements of the input); T is the Jacobian by the tape. A
// wrong backward pass leaves a pattern in T: T = 2J, T = Jᵀ, T is J with only the last contribution to a
// weight, T − J is proportional to ones in each row. gradient_diagnosis.cpp has the table of rules, and
// diagnosis/ the rules, one function each. The first rule that holds gives the diagnosis. If none holds, the
// cause is `unknown`.
#pragma once

#include <string_view>

#include "jacobian.h"

namespace isobar {

// In the order of name_of's list.
enum class Cause {
  none,  // the gradient is right
  unknown,
  wrong_shape,  // backward returned another shape, and said so
  detached,     // zero, or no path on the tape
  not_finite,
  ignores_dy,  // the gradient does not depend on dy
  not_linear,  // in dy
  sign,
  constant_factor,  // 2, ½, √d, …
  missing_mean,     // off by an extent of x or y: 1/N left out, or once too often
  transposed,
  wrong_axis,    // summed over another axis than the forward broadcast
  overwritten,   // of several uses of an input only the last counts
  not_summed,    // of several uses only the first counts: a broadcast was not summed
  missing_term,  // a sum in the formula is incomplete: the mean's part, the variance's part, one of two uses
  missing_factor,  // a product is incomplete: dy · f' without f', without weight, …
  misplaced,       // right numbers in other places: shifted, reversed
  one_sided,       // right on one side of a threshold, wrong on the other
  nearly_right,    // to some digits: eps left out, a rounded constant, f32 inside
  swapped_inputs,  // the gradients of two inputs are exchanged
  wrong_factor,    // dy is multiplied by something else than the slope
  row_factor,      // one factor for each row: a row's statistic twice or missing
  cross_talk,      // forward keeps elements along a dimension apart and backward does not, or the reverse
  dy_added,        // right but for a multiple of dy itself: a residual twice, or lost
  lost_branch,     // one of two paths of the formula is missing
  attention,       // attention's own: softmax's sum, heads
};

// Returns the name of a cause, such as "transposed" or "missing term".
std::string_view name_of(Cause cause);

// The likely cause of a wrong gradient, as diagnose() finds it.
struct Diagnosis {
  Cause cause = Cause::none;
  // One line: how T differs from J, and what to look for. Begins with the input's name.
  std::string text;
  int rank = 0;  // the place of its rule in the table: the lower, the plainer the explanation
};

// Returns the likely cause of each wrong gradient of one function, and Cause::none for a gradient whose
// largest relative error is at most `tolerance`. Pass all gradients of a function together: some causes show
// in several of them.
std::vector<Diagnosis> diagnose(const std::vector<Jacobian>& all, double tolerance = 1e-6);
Diagnosis diagnose(const Jacobian& jacobian, double tolerance = 1e-6);

}  // namespace isobar
