// BadOp: the op that made the first NaN or infinity of a step, told apart from the ops that passed it on.
//
//   TapeTrace trace;                          // notes what this thread records and walks back
//   Tape tape;
//   tape.backward(cross_entropy(model(x), y));
//   if (const std::optional<BadOp> bad = first_bad_op(trace)) fmt::print("{}\n", bad->text());
//   // forward of exp in blocks.1.norm made inf at [3, 0, 17] of its result [16, 64, 128] out of [16, 64, 128] from -4.1 to 93.8
//
// Where a loss is not finite, the search goes back from it, from each result that is not finite to the input
// that brought it, until an op had finite inputs: that op is the producer. Infinities in constants, as an
// attention mask has them, are not followed: then the producer is the op that made NaN of them. Where the
// loss is finite, the producer is the first op in backward order whose gradient is not finite though dy is,
// or what backward kept of an infinity in forward.
#pragma once

#include "tape_trace.h"

namespace isobar {

struct BadOp {
  // What made it: an op, from finite inputs; no op: a parameter or a constant was not finite already; an op's
  // backward, from a finite dy; the sum of the gradients of all uses of an op's result, each of them finite; or
  // the caller, who gave it to backward().
  enum class Way { forward, input, backward, sum, given };

  Way way;
  std::string op = {}, module = {};  // "exp"; "blocks.1.norm", or "" outside of all modules
  // In the order of recording within its piece, from 0: the same in each run.
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

// After backward, or after a forward alone, whose last op then stands for the loss. Nothing where all is
// finite.
std::optional<BadOp> first_bad_op(const TapeTrace& trace);

// The shape of the bad op's tensor in a run with another batch: of `bad.values`, if the op of its number is
// the same one there. It tells a caller which dimension is the batch.
std::optional<Shape> shape_in(const TapeTrace& trace, const BadOp& bad);

}  // namespace isobar
