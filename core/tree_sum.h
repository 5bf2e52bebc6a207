// TreeSum: adds the gradients of many pieces in the order of one binary tree that depends on the number of pieces alone,
// so that whoever computes a piece (this thread, another one, another machine) never shows in a bit.
//
//   TreeSum sum;
//   for (int64_t piece = 0; piece < pieces; ++piece) sum.add(gradients_of(piece));
//   const std::vector<Tensor> gradients = sum.take();
//
// The tree of n > 1 pieces splits them at the largest power of two below n, as that of RFC 6962, section 2.1:
//
//   sum(0 … n) = sum(0 … k) + sum(k … n)      k = the largest power of two below n
//
// It keeps at most ⌈log2 n⌉ + 1 partial sums at a time. A TreeSum belongs to one thread; its sums use those of
// parallel_for.
#pragma once

#include <cstdint>
#include <vector>

#include "tensor.h"

namespace isobar {

class TreeSum {
 public:
  // The next piece's tensors, f32 or f64; an undefined one adds nothing. They are overwritten where nobody else holds
  // them. Throws Error for another number of tensors than before; here or in take(), for other shapes or dtypes.
  void add(std::vector<Tensor> piece);
  // The sum of all pieces, and none are left. A tensor that is undefined in every piece stays undefined; no pieces give
  // no tensors.
  std::vector<Tensor> take();

 private:
  // Two neighbours of the tree become one.
  void add_last_two();

  struct Part {
    int64_t pieces;  // a power of two, until take()
    std::vector<Tensor> sums;
  };
  std::vector<Part> parts_;  // of consecutive pieces, each part larger than the next
};

}  // namespace isobar
