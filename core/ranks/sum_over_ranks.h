// Sums over ranks: adds the gradients of all ranks' pieces in the order of tree_sum.h, and gives every rank the
// whole sum, with the bits of one process.
//
//   TreeSum tree(ranks.share(pieces).begin);
//   …                                                            // tree.add() for each of this rank's pieces
//   std::vector<TreeSum::Block> blocks = tree.take_blocks();
//   const std::vector<std::string> present = ranks.gather(presence(blocks));
//   const std::vector<Tensor> sums = sum_over_ranks(ranks, std::move(blocks), present, pieces, parameters);
//
// The tensors count as one concatenation, which is cut into buckets. Bucket b belongs to rank b mod P, which
// receives this part of every block, adds the parts and sends the sum to all others. So a rank sends the
// bytes of one all-reduce. On one rank nothing is sent.
#pragma once

#include "ranks.h"
#include "tree_sum.h"

namespace isobar {

// Returns the sum over all pieces, on every rank; undefined for a tensor that no piece has. `mine` has the
// blocks of this rank's share of the pieces, `present` the presence() of each rank's blocks, and `like` tensors
// with the shapes and dtypes of the sums. Throws RankLost.
std::vector<Tensor> sum_over_ranks(Ranks& ranks, std::vector<TreeSum::Block> mine,
                                   const std::vector<std::string>& present, int64_t pieces,
                                   const std::vector<Tensor>& like);

// Returns which tensors of the blocks are defined, as a text; an empty one where all are.
std::string presence(const std::vector<TreeSum::Block>& blocks);

}  // namespace isobar
