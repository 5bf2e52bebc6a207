// TreeSum: adds the gradients of many pieces in the order of a binary tree that depends only on the number of
// pieces. So results do not depend on which thread or process computes a piece.
//
//   TreeSum sum;
//   for (int64_t piece = 0; piece < pieces; ++piece) sum.add(gradients_of(piece));
//   const std::vector<Tensor> gradients = sum.take();
//
// The tree of n > 1 pieces divides them at the largest power of two below n, as in RFC 6962, section 2.1:
//
//   sum(0 … n) = sum(0 … k) + sum(k … n)      k = the largest power of two below n
//
// It stores at most ⌈log2 n⌉ + 1 partial sums at a time. A TreeSum belongs to one thread; the sums use the
// threads of parallel_for().
//
// A TreeSum of some pieces in the middle starts at the number of the first one. Its partial sums are blocks:
// subtrees of the whole tree, of 2^k pieces of which the first number is a multiple of 2^k. Another TreeSum
// adds them with add(sums, pieces).
//
//   TreeSum mine(6);                                  // pieces 6 … 11 of 12
//   …
//   std::vector<TreeSum::Block> blocks = mine.take_blocks();   // 6, 7 and 8 … 11
#pragma once

#include <cstdint>
#include <utility>

#include "../tensor.h"

namespace isobar {

class TreeSum {
 public:
  struct Block {
    int64_t first, pieces;
    std::vector<Tensor> sums;
  };

  explicit TreeSum(int64_t first = 0) : next_(first) {}

  // Adds the tensors of the next piece, f32 or f64; an undefined one adds nothing. A tensor without another
  // owner is overwritten. Throws Error for another number of tensors than before; and, here or in take(), for
  // other shapes or dtypes.
  void add(std::vector<Tensor> piece) { add(std::move(piece), 1); }
  // Adds a block: the sums of the next `pieces` pieces.
  void add(std::vector<Tensor> sums, int64_t pieces);
  // Returns and removes the blocks so far, in order.
  std::vector<Block> take_blocks() { return std::exchange(blocks_, {}); }
  // Returns the blocks of pieces begin … end − 1, without sums.
  static std::vector<Block> blocks_of(int64_t begin, int64_t end);
  // Returns and removes the sum of all pieces. A tensor that is undefined in every piece stays undefined.
  // Without pieces there are no tensors.
  std::vector<Tensor> take();

 private:
  // Adds the last two blocks, which are neighbours in the tree.
  void add_last_two();

  int64_t next_;
  std::vector<Block> blocks_;  // of consecutive pieces
};

}  // namespace isobar
