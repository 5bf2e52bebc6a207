// recompute: y = f(x) that keeps nothing but x, and computes f again in backward (activation checkpointing,
// Chen et al. 2016, arXiv 1604.06174; torch.utils.checkpoint in PyTorch. In Isobar, a checkpoint is a file).
//
//   Tape tape({.rng = rng.split(step)});
//   for (TransformerBlock& block : blocks)
//     x = recompute([&block](const Tensor& h) { return block(h); }, x);
//   tape.backward(mean(x));             // holds what one block keeps at a time, instead of all of them
//
// Values and gradients are those of f(x) to the bit, at the cost of one more forward of f. Its random ops
// draw the same masks again. Without a tape on the thread, recompute(f, x) is f(x).
#pragma once

#include <functional>

#include "../core/tensor.h"

namespace isobar {

// f is kept with the node, and what it refers to must be there in backward, unchanged: the same weights, the
// same mode of modules. Other tensors than x that f uses, such as weights, receive their gradients too.
// Throws Error on a higher-order tape, which keeps its nodes; and in backward, where f uses other tensors
// than before or returns another shape or other values, or where a constant that its recorded ops read was
// overwritten.
Tensor recompute(std::function<Tensor(const Tensor&)> f, const Tensor& x);

}  // namespace isobar
