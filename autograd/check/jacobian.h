// Jacobian: the derivatives of a function with respect to one of its inputs, computed in two ways: by finite
// differences in f64, and by the tape, with one backward pass for every element of y. gradient_diagnosis.h
// finds the likely cause of a wrong backward pass from their differences.
//
//   const TensorFunction f = [](const std::vector<Tensor>& in) { return my_op(in[0], in[1]); };
//   for (const Jacobian& j : jacobians(f, {{"x", x}, {"weight", w}}))
//     if (j.max_relative_error > 1e-6) fmt::print("{}\n", diagnose(j).text);
#pragma once

#include <algorithm>

#include "gradcheck.h"

namespace isobar {

// A tensor with its name in messages: "x", "blocks.0.weight".
struct NamedInput {
  std::string name;
  Tensor value;
};

// An element of the gradient of Σ dy · y with a random dy.
struct GradientEntry {
  std::string index;  // "[2, 0]", or "direction 3" where the input is too large for single elements
  double tape, numeric;
  double relative_error;  // against max(|tape|, |numeric|, floor); see GradcheckReport
};

// An element near which f is not smooth: its derivative from the left and from the right differ.
struct Kink {
  std::string index;
  double left, right;
};

// Whether f rounds an input to f32. `whole`: y depends only on the rounded input, so f is a staircase for
// steps of 1e-8. `partly`: some terms are rounded, and others are not.
enum class Rounding { none, partly, whole };

// Options of jacobians().
struct JacobianOptions {
  // Inputs with at most this many elements are checked element by element, larger ones along eight random
  // directions with entries ±1.
  int64_t element_limit = 512;
  // Above this relative error the tape's whole Jacobian is computed, for the diagnosis.
  double tolerance = 1e-6;
  bool in_f32 = false;  // f is known to round to f32; found out if not: see Rounding
  // The seed of dy, the directions, and the tape's rng.
  uint64_t seed = 1;
  // For a backward pass that is intended to differ from the derivative of f, such as a straight-through
  // estimator: a function with results of the shape of f. A gradient that is not the derivative of f is
  // compared with the derivative of this function.
  TensorFunction expected = nullptr;
};

struct Jacobian {
  std::string name;                // of the input
  Tensor value, y;                 // where: the input and the result there
  std::vector<NamedInput> inputs;  // all of them

  int64_t rows = 0, columns = 0;  // numbers of y and of the input
  // (rows, columns), row by row; NaN where a kink is near. `tape` is filled only where the gradient is wrong.
  std::vector<double> numeric, tape;
  // The input is too large for that: rows are eight random dy, columns random directions.
  bool sampled = false;

  bool on_tape = true;   // the forward recorded a use of this input
  bool received = true;  // backward gave it a gradient
  // The gradient of 2 dy is twice that of dy, and that of a sum of dy the sum of theirs.
  bool linear = true, additive = true;
  bool ignores_dy = false;  // dy = 0 gives the gradient that another dy gives
  std::string error;        // what backward threw, or nothing

  // Where f rounds to f32, differences are taken at steps of 4e-3, and `rounded` is by how much numbers of y
  // jump.
  Rounding rounding = Rounding::none;
  double rounded = 0;

  double max_relative_error = 0;     // of the entries that have no kink
  bool compared = true;              // there is such an entry
  std::vector<GradientEntry> worst;  // up to five, the worst first
  std::vector<Kink> kinks;
  bool as_expected = false;  // `numeric` and `y` are those of options.expected
  // `tolerance`, or the 1e-3 that differences of f32 numbers are good for.
  double allowed(double tolerance) const {
    return rounding == Rounding::none ? tolerance : std::max(tolerance, 1e-3);
  }
  bool right(double tolerance) const {
    return error.empty() && compared && rounding != Rounding::partly &&
           max_relative_error <= allowed(tolerance);
  }
};

// Returns a Jacobian for each float input, which must be f64. The function runs on a tape with a fixed Rng,
// so dropout draws the same mask every time. Throws Error if f throws; the error of its backward pass is
// stored in `error`.
std::vector<Jacobian> jacobians(const TensorFunction& f, const std::vector<NamedInput>& inputs,
                                const JacobianOptions& options = {});

}  // namespace isobar
