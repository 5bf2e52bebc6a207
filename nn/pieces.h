// Pieces, which are micro-batches: a training step whose batch is processed in several parts. Their gradients
// are added in the order of a binary tree that depends on the number of pieces only (core/ranks/tree_sum.h).
//
//   const std::vector<double> losses = backward_in_pieces(model, 4, [&](int64_t piece) {
//     return cross_entropy(model(part_of(x, piece)), part_of(y, piece));
//   }, {.rng = rng.split(step)});
//   optimizer.step();
//
// There are two schedules, with bit-identical results. In parallel: each thread processes whole pieces, with
// serial kernels. In order: one piece after the other, each on all threads. The parallel schedule is faster,
// and needs memory for as many pieces as there are threads. It is used if all of these hold:
//
//   - the model has fewer than `large_model` parameters, no observer, and no buffer, because a piece might change a
//     buffer, as BatchNorm changes its running statistics
//   - the calling thread has no tape, no TapeListener, such as a TapeTrace or that of a Profile
//   - there are more pieces than half of the threads
#pragma once

#include <cstdint>
#include <functional>

#include "../autograd/tape.h"
#include "../core/ranks/ranks.h"
#include "module.h"

namespace isobar {

// From this number of parameters on, micro-batches run one after the other.
constexpr int64_t large_model = int64_t{1} << 22;

// Calls loss_of(piece), which returns a single number, for each piece 0 … pieces − 1, on a tape of its own.
// Adds the gradient of the mean of all losses to grad() of every parameter on which a loss depends. Returns
// the losses in order.
//
// If the cross-entropy of a loss ignores targets (ignore_index), the piece is weighted by the number of
// targets that are not ignored, and a piece without such targets adds nothing: the gradient is that of
// cross_entropy() over the whole batch. Other terms of such a loss get the same weight; a loss with two
// cross-entropies throws Error. A cross-entropy on which the loss does not depend, such as a printed metric,
// has no influence. The returned losses are multiplied by their weights, whose mean is 1, so that their mean
// is the loss of the batch.
//
//   backward_in_pieces(model, 4, [&](int64_t i) {           // answers count, prompts and padding are −100
//     return cross_entropy(model(part_of(x, i)), part_of(y, i), {.ignore_index = -100});
//   });
//
// Random ops of a piece draw from options.rng.split(piece), or from options.rng if there is one piece.
// loss_of may be called by several threads at once: it may read the model, and must not change anything
// except running statistics. It may call modules that are not part of the model, such as a teacher; but with
// several pieces it throws Error if such a module is observed, or has a buffer and is in training. The
// modules of the model get paths, as by a call of the model on a tape with an Rng.
//
// Throws Error unless pieces >= 1, if all targets of the batch are ignored, and if some are ignored and the
// pieces have different numbers of targets, or one has two cross-entropies. If pieces throw, the exception of
// the first one is thrown, and an Error gets the number of the piece. In all these cases no gradient has
// changed.
//
// Several ranks share the pieces: loss_of is called for the pieces of this rank only, and every rank gets all
// losses and the whole gradients, bit-identical to those of one process. With several ranks it throws Error
// for a model with running statistics, which each piece would change for the next one, and if there are
// gradients of an earlier call. An Error of a piece reaches all ranks.
std::vector<double> backward_in_pieces(Module& model, int64_t pieces,
                                       const std::function<Tensor(int64_t piece)>& loss_of,
                                       const TapeOptions& options = {}, Ranks& ranks = Ranks::alone());

// For Module: throws Error where the module must be a part of the model whose piece calls it.
void check_outsider(Module& module);

}  // namespace isobar
