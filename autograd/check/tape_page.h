// tape_page: a recorded tape as one self-contained HTML page, to walk through with the arrow keys.
//
//   TapeTrace trace;
//   Tape tape;
//   tape.backward(cross_entropy(model(x), y));
//   tape_page(trace, "tape.html", named_parameters(model));
//
// The page shows the ops with their modules as boxes, the first one at the bottom. One press of → is one op:
// values go up, then gradients come back. At each op it shows its formula, the shapes, norms and ranges of
// its inputs, its result and their gradients, and the numbers of small tensors. Before backward it shows the
// values alone and says so.
#pragma once

#include "../../core/fields.h"
#include "tape_trace.h"

namespace isobar {

constexpr size_t most_ops_of_page = 2000;  // nobody would walk through more

// Writes the page. Parameters are called by these names, else by the module that read them; their gradients
// are those of now, so write the page before step() clears them. Throws Error where nothing was recorded,
// where more than most_ops_of_page ops were, and where the file cannot be written.
void tape_page(const TapeTrace& trace, const std::string& path,
               const std::vector<NamedTensor>& parameters = {});
// The page itself.
std::string tape_page(const TapeTrace& trace, const std::vector<NamedTensor>& parameters = {});

// The lines of the comment in the op's file that hold its formula and gradient, "" for an op that is not in
// ops.h.
std::string formula_of(std::string_view op);

}  // namespace isobar
