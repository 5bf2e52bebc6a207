// Gradient diagnosis: what is probably wrong with a backward, from the evidence alone.
//
// J is the Jacobian by differences, (numbers of y, numbers of the input); T is the Jacobian by the tape. A
// wrong backward leaves a recognizable pattern in T: T = 2J, T = Jᵀ, T is J with all but the last
// contributions to a weight erased, T − J lies along ones in each row. The rules are in
// gradient_diagnosis.cpp, one function each; the first one that explains every entry of T gives the
// diagnosis. Where none does, the cause is `unknown`.
#pragma once

#include <string>
#include <string_view>

#include "jacobian.h"

namespace isobar {

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
};

// "transposed", "missing term", …
std::string_view name_of(Cause cause);

struct Diagnosis {
  Cause cause = Cause::none;
  // One line: how T differs from J, and what to look for. Begins with the input's name.
  std::string text;
};

// The cause of a wrong gradient; Cause::none where the largest relative error is at most `tolerance`.
Diagnosis diagnose(const Jacobian& jacobian, double tolerance = 1e-6);

}  // namespace isobar
