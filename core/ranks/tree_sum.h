// TreeSum: adds the gradients of many pieces in the order of one binary tree that depends on the number of
// pieces alone, so that whoever computes a piece (this thread, another one, another machine) never shows in a
// bit.
//
//   TreeSum sum;
//   for (int64_t piece = 0; piece < pieces; ++piece) sum.add(gradients_of(piece));
//   const std::vector<Tensor> gradients = sum.take();
//
// The tree of n > 1 pieces splits them at the largest power of two below n, as that of RFC 6962, section 2.1:
//
//   sum(0 … n) = sum(0 … k) + sum(k … n)      k = the largest power of two below n
//
// It keeps at most ⌈log2 n⌉ + 1 partial sums at a time. A TreeSum belongs to one thread; its sums use those
// of parallel_for.
//
// A TreeSum of some pieces in the middle starts at the first one's number. Its sums so far are blocks:
// subtrees of the whole tree, of 2^k pieces whose first is a multiple of 2^k. Another TreeSum adds them with
// add(sums, pieces).
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

  // The next piece's tensors, f32 or f64; an undefined one adds nothing. They are overwritten where nobody
  // else holds them. Throws Error for another number of tensors than before; here or in take(), for other
  // shapes or dtypes.
  void add(std::vector<Tensor> piece) { add(std::move(piece), 1); }
  // The sums of the next `pieces` of them, a block.
  void add(std::vector<Tensor> sums, int64_t pieces);
  // The blocks so far, in order, and none are left.
  std::vector<Block> take_blocks() { return std::exchange(blocks_, {}); }
  // The blocks, without sums, that pieces begin … end − 1 make.
  static std::vector<Block> blocks_of(int64_t begin, int64_t end);
  // The sum of all pieces, and none are left. A tensor that is undefined in every piece stays undefined; no
  // pieces give no tensors.
  std::vector<Tensor> take();

 private:
  // Two neighbours of the tree become one.
  void add_last_two();

  int64_t next_;
  std::vector<Block> blocks_;  // of consecutive pieces
};

}  // namespace isobar
