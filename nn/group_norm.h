// GroupNorm: LayerNorm over groups of channels (Wu & He 2018).
#pragma once

#include "module.h"
#include "normalized_axes.h"

namespace isobar {

struct GroupNormOptions {
  double eps = 1e-5;
  bool affine = true;
};

// x (N, C, …), C = num_channels: mean and population variance per sample and group of C / num_groups
// neighbouring channels. weight (C) starts at 1, bias (C) at 0. Throws Error unless num_groups divides C.
struct GroupNorm : Module {
  int64_t num_groups;
  double eps;
  Tensor weight, bias;

  GroupNorm(int64_t group_count, int64_t num_channels, GroupNormOptions options = {})
      : num_groups(group_count), eps(options.eps) {
    check(num_groups >= 1 && num_channels % num_groups == 0,
          "group_norm: {} channels do not divide into {} groups", num_channels, num_groups);
    if (options.affine) {
      weight = ones(num_channels).set_trainable();
      bias = zeros(num_channels).set_trainable();
    }
  }

  Tensor forward(const Tensor& x) override { return group_norm(x, num_groups, weight, bias, eps); }
  void fields(Fields& f) override {
    f("weight", weight);
    f("bias", bias);
  }
};

// Options of RowGroupNorm.
struct RowGroupNormOptions {
  double eps = 1e-5;
  // 0: the greatest common divisor of 4 and C. The 32 groups of Wu & He 2018 are for hundreds of channels; at
  // the studies' width of 64 they would leave two channels each, which every input maps to ±1.
  int64_t groups = 0;
  bool bias = true;
};

// RowGroupNorm: GroupNorm for x (…, C) with channels last, as the other norms of make_norm() take it. Each
// row is a sample, so mean and variance are those of C / groups neighbouring channels of one row. C =
// channels.numel(). Tensors and errors are those of GroupNorm.
struct RowGroupNorm : GroupNorm {
  Shape channels;

  explicit RowGroupNorm(const Shape& shape, RowGroupNormOptions options = {})
      : GroupNorm(options.groups > 0 ? options.groups : std::gcd(int64_t{4}, shape.numel()), shape.numel(),
                  {.eps = options.eps}),
        channels(shape) {
    check(shape.numel() >= 1, "group_norm: wanted at least one channel, got {}", shape);
    if (!options.bias) bias = Tensor();
  }

  Tensor forward(const Tensor& x) override {
    normalized_axes("group_norm", x, channels);  // checks the shape
    const int64_t width = channels.numel();
    return reshape(GroupNorm::forward(reshape(x, {x.numel() / width, width})), x.shape());
  }
};

}  // namespace isobar
