// The borders of the map by formulas, from the net's size and initial weights alone: predictions.md derives them.
//
//   const Borders borders = predicted_borders({.task = "residual", .norm = "none", .scale = 2}, 100);
//   if (borders.trains()) …  // at rates from borders.lowest_rate to borders.highest_rate
#pragma once

#include "config.h"

namespace isobar::trains {

// A net at its initial weights, and what the first step does to it, for a wide net.
struct Start {
  double logits;  // their root mean square
  double change;  // of the logits by the first step at rate 1, over `logits`; it is proportional to the rate
  double head;    // the same by the step of the head alone
  double
      matrix;  // of the output of a hidden matrix by that step, for an input of rms 1: what weights grow by
  double
      distance;  // between two digits, relative to their lengths: after the last layer over before the first
  double gradient;  // root mean square of the elements of a hidden matrix's gradient
};
Start start_of(const Net& net);

struct Borders {
  double lowest_rate, highest_rate;
  bool trains() const { return lowest_rate < highest_rate; }
  double octaves() const;  // negative where it trains at no rate
};
Borders predicted_borders(const Net& net, int64_t steps);

// The greatest scale, or depth, up to which a net trains at some rate, between the first and the last value; the
// least scale likewise. Infinite or 0 where all do so, and NaN where none does.
double predicted_greatest_scale(Net net, int64_t steps, double from, double to);
double predicted_least_scale(Net net, int64_t steps, double from, double to);
double predicted_greatest_depth(Net net, int64_t steps, int64_t from, int64_t to);

// --- What no formula gives, from a trial: see predictions.md.

struct Constants {
  double most_change;  // of the logits by a step, relative: above it training fails
  double total;        // change by the head that learning takes, summed over the steps
};
Constants constants_of(const std::string& task, const std::string& optimizer);
inline constexpr double coherence = 0.5;         // of the rows of a batch, in a step of AdamW
inline constexpr double cosine_of_digits = 0.3;  // the mean of two digits'
inline constexpr double flat_mix = 0.2;      // Σ_t α_t² of even attention, over a block of 32 characters
inline constexpr double small_logits = 0.5;  // below this they must grow first
inline constexpr double large_logits = 13;   // above this they are not unlearned

// How far a prediction may be from the measured border.
inline constexpr double scale_tolerance = 1.5, rate_tolerance = 2, depth_tolerance = 1.41421356237309515;

}  // namespace isobar::trains
