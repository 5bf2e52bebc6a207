// BatchNorm1d: y = (x − mean) / √(var + eps) · weight + bias, per channel over the batch (Ioffe & Szegedy
// 2015).
#pragma once

#include <optional>

#include "module.h"

namespace isobar {

struct BatchNormOptions {
  double eps = 1e-5;
  std::optional<double> momentum = 0.1;  // nullopt: running statistics are averages over all batches
  bool affine = true;
  bool track_running_stats = true;
};

// x (N, C) or (N, C, L), C = num_features; weight (C) starts at 1, bias (C) at 0. Training uses the batch's
// mean and population variance, and moves the running statistics by `momentum` towards the batch's mean and
// *unbiased* variance, as PyTorch does. Evaluation uses the running statistics. Throws Error in training when
// a channel has a single value.
struct BatchNorm1d : Module {
  double eps;
  std::optional<double> momentum;
  Tensor weight, bias;
  Tensor running_mean, running_var;  // (C); undefined without track_running_stats
  Tensor num_batches_tracked;        // i64, a single number

  explicit BatchNorm1d(int64_t num_features, BatchNormOptions options = {});
  Tensor forward(const Tensor& x) override;
  void fields(Fields& f) override;

 private:
  void track(const Tensor& x);
};

}  // namespace isobar
