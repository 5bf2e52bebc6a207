// RowBatchNorm: BatchNorm1d for x (…, C) with channels last, as the other norms of make_norm take it. All
// leading dimensions together are the batch.
//
// In a causal language model that batch holds all positions of all sequences. In training each position's
// output therefore depends on later positions, through the batch's statistics: the training loss sees a
// little of the future. Evaluation uses the running statistics and does not. These start at mean 0 and
// variance 1: for inputs of much smaller variance, such as embeddings of std 0.02, evaluation needs some
// hundred steps first.
#pragma once

#include "batch_norm.h"
#include "normalized_axes.h"

namespace isobar {

struct RowBatchNormOptions {
  double eps = 1e-5;
  bool bias = true;
};

// C = channels.numel(), for x (…, channels). Tensors, training, evaluation and errors are BatchNorm1d's.
struct RowBatchNorm : BatchNorm1d {
  Shape channels;

  explicit RowBatchNorm(const Shape& shape, RowBatchNormOptions options = {})
      : BatchNorm1d(shape.numel(), {.eps = options.eps}), channels(shape) {
    check(shape.numel() >= 1, "batch_norm: wanted at least one channel, got {}", shape);
    if (!options.bias) bias = Tensor();
  }

  Tensor forward(const Tensor& x) override {
    normalized_axes("batch_norm", x, channels);  // checks the shape
    const int64_t width = channels.numel();
    return reshape(BatchNorm1d::forward(reshape(x, {x.numel() / width, width})), x.shape());
  }
};

}  // namespace isobar
