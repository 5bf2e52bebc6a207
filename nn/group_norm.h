// GroupNorm: LayerNorm over groups of channels (Wu & He 2018).
#pragma once

#include "module.h"

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

}  // namespace isobar
