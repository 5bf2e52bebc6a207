// tape_page: a recorded tape as one self-contained HTML page, through which the arrow keys lead op by op.
//
//   TapeTrace trace;
//   Tape tape;
//   tape.backward(cross_entropy(model(x), y));
//   tape_page(trace, "tape.html", named_parameters(model));
//
// The page shows the ops with their modules as boxes, the first one at the bottom. Each press of → shows the
// next op of the forward pass, and then of the backward pass: its formula, the shapes, norms and ranges of
// its inputs, its result and their gradients, and the elements of small tensors. Before the backward pass it
// shows only values, and says so.
#pragma once

#include "../../core/fields.h"
#include "tape_trace.h"

namespace isobar {

constexpr size_t most_ops_of_page = 2000;  // the largest number of ops on a page

// Writes the page. Parameters have these names, otherwise the name of the module that read them. Their
// gradients are the current ones, so write the page before step() clears them. Throws Error if nothing was
// recorded, if there are more than most_ops_of_page ops, and if the file cannot be written.
void tape_page(const TapeTrace& trace, const std::string& path,
               const std::vector<NamedTensor>& parameters = {});
// Returns the page.
std::string tape_page(const TapeTrace& trace, const std::vector<NamedTensor>& parameters = {});

// Returns the lines with formula and gradient in the comment of the op's file, or "" for an op that is not in
// ops.h.
std::string formula_of(std::string_view op);

}  // namespace isobar
