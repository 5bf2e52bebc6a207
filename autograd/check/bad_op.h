// BadOp: the op that produced the first NaN or infinity of a step, as opposed to the ops that propagated it.
//
//   TapeTrace trace;                          // stores what this thread records, and the backward pass
//   Tape tape;
//   tape.backward(cross_entropy(model(x), y));
//   if (const std::optional<BadOp> bad = first_bad_op(trace)) fmt::print("{}\n", bad->text());
//   // forward of exp in blocks.1.norm made inf at [3, 0, 17] of its result [16, 64, 128] out of [16, 64, 128] from -4.1 to 93.8
//
// If a loss is not finite, the search starts there. It goes from each result that is not finite to the input
// that is not finite, until an op has finite inputs: that op is the producer. Infinities in constants, such
// as an attention mask, are not followed; then the producer is the op that made NaN of them. If the loss is
// finite, the producer is the first op of the backward pass whose gradient is not finite although dy is, or
// the op whose infinite result the backward pass used.
#pragma once

#include "tape_trace.h"

namespace isobar {

struct BadOp {
  // The origin: the forward of an op with finite inputs; an input (a parameter or a constant that was not
  // finite); the backward of an op, from a finite dy; the sum of finite gradients of all uses of a result; or
  // the caller, who passed it to backward().
  enum class Way { forward, input, backward, sum, given };

  Way way;
  std::string op = {}, module = {};  // "exp"; "blocks.1.norm", or "" outside of all modules
  // The position in the order of recording within its piece, from 0: the same in each run.
  size_t number = 0;
  int64_t tape = 0;                     // which of the trace's tapes, from 0: the piece of a batch in pieces
  std::vector<ValueRange> inputs = {};  // of the forward; shape [] and no values where one is absent
  std::optional<ValueRange> dy = {};    // of a backward
  int64_t input = -1;                   // which input came in, or whose gradient it is
  ValueRange result = {};               // what is not finite
  Tensor values = {};  // the same, whole; for an input that came in the op's result, if that is not finite
  int64_t values_of = -1;  // the input whose values or gradient they are; -1: the op's result or dy
  Tensor leaf = {};        // the parameter that came in, else undefined
  std::string turned_nan =
      {};                 // the op that made NaN of the producer's infinity, "softmax in blocks.0", or ""
  int64_t passed_on = 0;  // results and gradients of other ops that are not finite either

  // "forward of exp in blocks.1.norm", "backward of sqrt".
  std::string place() const;
  // Where, what, its index, and the ranges of the inputs; one line. `leaf_name` is the parameter's.
  std::string text(const std::string& leaf_name = "") const;
};

// Returns the producer of the first NaN or infinity, or nothing if all values are finite. Call it after
// backward(), or after a forward pass only; the last op then counts as the loss.
std::optional<BadOp> first_bad_op(const TapeTrace& trace);

// Returns the shape of `bad.values` in a run with another batch, if the op of the same number is the same op
// there. With it a caller can find the dimension of the batch.
std::optional<Shape> shape_in(const TapeTrace& trace, const BadOp& bad);

}  // namespace isobar
