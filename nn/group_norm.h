// GroupNorm: LayerNorm over groups of channels (Wu & He 2018).
#pragma once

#include "module.h"

namespace isobar {

struct GroupNormOptions {
  double eps = 1e-5;
  bool affine = true;
};

// x (N, C, …): mean and population variance per sample and group of C / groups neighbouring channels; weight
// (1) and bias (0) are (C).
struct GroupNorm : Module {
  int64_t groups;
  double eps;
  Tensor weight, bias;

  GroupNorm(int64_t group_count, int64_t channels, GroupNormOptions options = {})
      : groups(group_count), eps(options.eps) {
    check(groups >= 1 && channels % groups == 0, "group_norm: {} channels do not divide into {} groups",
          channels, groups);
    if (options.affine) {
      weight = ones(channels).set_trainable();
      bias = zeros(channels).set_trainable();
    }
  }

  Tensor forward(const Tensor& x) override { return group_norm(x, groups, weight, bias, eps); }
  void fields(Fields& f) override {
    f("weight", weight);
    f("bias", bias);
  }
};

}  // namespace isobar
