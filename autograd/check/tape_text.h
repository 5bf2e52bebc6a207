// A trace of a tape as text and as a drawing; and which parameters got no gradient, and why.
//
//   fmt::print("{}", tape_text(trace));
//
// prints "forward", a line for each op, "backward", and a line for each op of backward:
//
//   %2  linear  (constant [32, 784], %0 [256, 784], %1 [256]) -> [32, 256] f32, 32.0 KiB, norm 91.3, in fc1
//   %2  linear  dy [32, 256], norm 0.0318 -> %0 norm 0.744, %1 norm 0.0521, in fc1
#pragma once

#include "../../core/fields.h"
#include "tape_trace.h"

namespace isobar {

// Returns the trace as text, in the order of time. %n are slots of leaves and of results; if the trace has
// several tapes, %2.n is a slot of the second one.
std::string tape_text(const TapeTrace& trace);

// Returns the ops as a Graphviz digraph, clustered by module: `dot -Tsvg tape.dot > tape.svg`.
std::string tape_dot(const TapeTrace& trace);

// Returns a line for each parameter without a gradient, or with a gradient of zeros, with the reason: frozen,
// never used, used only by ops on which the loss does not depend, or lost at an op whose backward returned
// none. Empty if all have a gradient. Call it after backward() and before step(), which clears gradients.
std::string missing_gradients(const TapeTrace& trace, const std::vector<NamedTensor>& parameters);

}  // namespace isobar
