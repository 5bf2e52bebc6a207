// Pieces: a training step whose batch goes forward and back in several parts. Their gradients are added in
// the order of one tree that depends on the number of pieces alone (core/ranks/tree_sum.h).
//
//   const std::vector<double> losses = backward_in_pieces(model, 4, [&](int64_t piece) {
//     return cross_entropy(model(part_of(x, piece)), part_of(y, piece));
//   }, {.rng = rng.split(step)});
//   optimizer.step();
//
// There are two schedules with the same bits. Side by side: each thread takes whole pieces, with serial
// kernels. In order: one piece after the other, each on all threads. Side by side is faster, and needs memory
// for as many pieces as there are threads. It is chosen where all of these hold:
//
//   - the model has fewer than `large_model` parameters, no observer, and no buffer: any counts as one that a
//     piece changes, as BatchNorm's running statistics
//   - the calling thread has no tape, no TapeListener (such as a TapeTrace) and no Profile
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

// Calls loss_of(piece), a single number, for each piece, 0 … pieces − 1, on a tape of its own, and adds the
// gradient of the mean of all losses to grad() of every parameter that a loss depends on. Returns the losses
// in order.
//
// Where the cross-entropies of a loss ignore targets (ignore_index), its piece is weighed by the number of
// targets that count, and a piece with none adds nothing: the gradient is that of cross_entropy over the whole
// batch. Other terms of such a loss have the same weight; two cross-entropies are refused. One that the
// loss does not depend on, such as a printed metric, weighs nothing. The losses that are returned are then
// multiplied by their weights, whose mean is 1, so that their mean is the loss of the batch.
//
//   backward_in_pieces(model, 4, [&](int64_t i) {           // answers count, prompts and padding are −100
//     return cross_entropy(model(part_of(x, i)), part_of(y, i), {.ignore_index = -100});
//   });
//
// Random ops of a piece draw from options.rng.split(piece), or from options.rng where there is one
// piece. loss_of may be called by several threads at once: it reads the model and changes nothing but its
// running statistics. It may call modules that are no part of the model, such as a teacher, but none that is
// observed, or that is in training and has a buffer: that throws Error where there are several pieces. Gives
// the model's modules paths, as a call of the model on a tape with an Rng does.
//
// Throws Error unless pieces >= 1; where every target of the batch is ignored; where some are and the pieces
// have not equally many targets, or one has two cross-entropies; and what the first piece that fails throws, an Error with the piece's
// number; no gradient has changed then.
//
// Several ranks share the pieces: loss_of is called for this rank's pieces alone, and every rank gets all
// losses and the whole gradients, with the bits of one process. Throws Error there for a model with running
// statistics, which each piece changes for the next, and for gradients of an earlier call, to which these do
// not add up. What a piece throws as an Error reaches all ranks.
std::vector<double> backward_in_pieces(Module& model, int64_t pieces,
                                       const std::function<Tensor(int64_t piece)>& loss_of,
                                       const TapeOptions& options = {}, Ranks& ranks = Ranks::alone());

// For Module: throws Error where the module must be a part of the model whose piece calls it.
void check_outsider(Module& module);

}  // namespace isobar
