#include "batch_norm.h"

#include "../autograd/tape.h"

namespace isobar {

BatchNormLayer::BatchNormLayer(int64_t num_features, BatchNormOptions options)
    : eps(options.eps), momentum(options.momentum) {
  const double m = momentum.value_or(0);
  check(m >= 0 && m <= 1, "batch_norm: momentum must be in [0, 1], got {}", m);
  if (options.affine) {
    weight = ones(num_features).set_trainable();
    bias = zeros(num_features).set_trainable();
  }
  if (options.track_running_stats) {
    running_mean = zeros(num_features);
    running_var = ones(num_features);
    num_batches_tracked = zeros({}, Dtype::i64);
  }
}

Tensor BatchNormLayer::normalize(const Tensor& x) {
  const bool tracked = running_mean.defined();
  if (!training() && tracked) return batch_norm(x, weight, bias, eps, running_mean, running_var);
  check(x.numel() > x.size(1),
        "batch_norm: wanted more than one value per channel in training, got {}; use a larger batch or call "
        "eval(model)",
        x.shape());
  Tensor y = batch_norm(x, weight, bias, eps);
  if (tracked) track(x);
  return y;
}

// running ← (1 − m) · running + m · statistic of this batch, m = momentum
void BatchNormLayer::track(const Tensor& x) {
  const NoTape pause;
  const int64_t batches = ++*raw::write<int64_t>(num_batches_tracked);
  const double m = momentum.value_or(1 / static_cast<double>(batches));
  std::vector<int> all_but_channels{0};
  for (int d = 2; d < x.ndim(); ++d) all_but_channels.push_back(d);
  assign(running_mean, running_mean * (1 - m) + mean(x, all_but_channels) * m);
  assign(running_var, running_var * (1 - m) + var(x, all_but_channels) * m);
}

void BatchNormLayer::fields(Fields& f) {
  f("weight", weight);
  f("bias", bias);
  f.buffer("running_mean", running_mean);
  f.buffer("running_var", running_var);
  f.buffer("num_batches_tracked", num_batches_tracked);
}

}  // namespace isobar
