// Inspect: a tape made visible, as text and as a drawing.
//
//   Tape tape;
//   Tensor loss = cross_entropy(model(x), y);
//   fmt::print("{}", tape_text(tape));
//   //   %2  linear  (constant [32, 784], %0 [256, 784], %1 [256]) -> [32, 256] f32, 32.0 KiB, in fc1
//   //   %3  relu    (%2) -> [32, 256] f32, 32.0 KiB, in act
//
// They show the nodes that the tape still holds: call them before backward(), which uses them up, or on a
// higher-order tape, which keeps them. (The first op that made a NaN is found by
// TapeOptions::detect_anomaly.)
#pragma once

#include <string>

#include "tape.h"

namespace isobar {

// One line per node: its number, its op, its inputs (%n is line n; leaves and constants with their shapes),
// and the shape, dtype, bytes and module of its result.
std::string tape_text(const Tape& tape);

// The same as a Graphviz digraph, nodes clustered by module: `dot -Tsvg tape.dot > tape.svg`.
std::string tape_dot(const Tape& tape);

// The names of the recorded ops that y does not depend on, "square, mean", as an op's own computations outside of
// NoTape; "" for a y that is not on this tape.
std::string idle_ops(const Tape& tape, const Tensor& y);

// Pieces of such a line, which a TapeLog's lines share. An input: "%3", "%3 [2, 4]", "constant [2, 4]", or
// "none" for an undefined tensor.
std::string input_text(const Node::Input& input, bool with_shape = true);
// `before` and "in fc1", or nothing where no module recorded the node.
std::string in_scope(const Node& node, const char* before);

}  // namespace isobar
