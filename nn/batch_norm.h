// BatchNorm1d and BatchNorm2d: y = (x − mean) / √(var + eps) · weight + bias, per channel over the batch and
// all positions (Ioffe & Szegedy 2015).
#pragma once

#include <optional>

#include "module.h"
#include "normalized_axes.h"

namespace isobar {

// Options of BatchNorm1d and BatchNorm2d.
struct BatchNormOptions {
  double eps = 1e-5;
  // In [0, 1]; nullopt: running statistics are averages over all batches.
  std::optional<double> momentum = 0.1;
  bool affine = true;
  bool track_running_stats = true;
};

// The base of BatchNorm1d and BatchNorm2d: x (N, C, …), C = num_features; weight (C) starts at 1, bias (C) at
// 0. Training uses mean and population variance of the batch, and moves the running statistics by `momentum`
// towards the mean and the *unbiased* variance of the batch, as PyTorch does. Evaluation uses the running
// statistics. Throws Error in training if a channel has a single value.
struct BatchNormLayer : Module {
  double eps;
  std::optional<double> momentum;
  Tensor weight, bias;
  Tensor running_mean, running_var;  // (C); undefined without track_running_stats
  Tensor num_batches_tracked;        // i64, a single number

  void fields(Fields& f) override;

 protected:
  BatchNormLayer(int64_t num_features, BatchNormOptions options);
  Tensor normalize(const Tensor& x);

 private:
  void track(const Tensor& x);
};

// x (N, C) or (N, C, L). Throws Error for another number of dimensions.
struct BatchNorm1d : BatchNormLayer {
  explicit BatchNorm1d(int64_t num_features, BatchNormOptions options = {})
      : BatchNormLayer(num_features, options) {}

  Tensor forward(const Tensor& x) override {
    check(x.ndim() == 2 || x.ndim() == 3, "batch_norm: wanted x (N, C) or (N, C, L), got {}{}", x.shape(),
          x.ndim() == 4 ? "; BatchNorm2d takes images" : "");
    return normalize(x);
  }
};

// x (N, C, H, W). Throws Error for another number of dimensions.
struct BatchNorm2d : BatchNormLayer {
  explicit BatchNorm2d(int64_t num_features, BatchNormOptions options = {})
      : BatchNormLayer(num_features, options) {}

  Tensor forward(const Tensor& x) override {
    check(x.ndim() == 4, "batch_norm: wanted x (N, C, H, W), got {}{}", x.shape(),
          x.ndim() == 2 || x.ndim() == 3 ? "; BatchNorm1d takes (N, C) and (N, C, L)" : "");
    return normalize(x);
  }
};

// Options of RowBatchNorm.
struct RowBatchNormOptions {
  double eps = 1e-5;
  bool bias = true;
};

// RowBatchNorm: BatchNorm1d for x (…, C) with channels last, as the other norms of make_norm() take it. All
// leading dimensions together are the batch. C = channels.numel(). Tensors, training, evaluation and errors
// are those of BatchNorm1d.
//
// In a causal language model the batch has all positions of all sequences. So in training the output at a
// position depends on later positions, through the statistics of the batch, and the training loss uses
// information about the targets. Evaluation uses the running statistics and does not. They start at mean 0
// and variance 1: for inputs of much smaller variance, such as embeddings of std 0.02, some hundred steps are
// needed before evaluation.
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
