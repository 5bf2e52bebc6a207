// BatchNorm and GroupNorm: LayerNorm over other elements, with a weight per channel. Both bring the elements
// that are normalized together into one row, normalize the rows, and go back; the gradient follows.
//
//   batch_norm:  x (N, C, …): one row per channel          y = h · weight[c] + bias[c]
//   group_norm:  x (N, C, …): one row per sample and group of C / groups channels
#include <numeric>

#include "../ops.h"
#include "checks.h"

namespace isobar {
namespace {

void check_per_channel(const char* op, const char* name, const Tensor& parameter, const Tensor& x) {
  check_parameter(op, name, parameter, Shape{x.size(1)}, x);
}

// A parameter (C) shaped so that it broadcasts over x (N, C, …).
Tensor per_channel(const Tensor& parameter, const Tensor& x) {
  Shape shape{parameter.numel()};
  for (int d = 2; d < x.ndim(); ++d) shape = shape.inserted(shape.ndim(), 1);
  return reshape(parameter, shape);
}

Tensor channel_affine(Tensor h, const Tensor& weight, const Tensor& bias) {
  if (weight.defined()) h = h * per_channel(weight, h);
  return bias.defined() ? h + per_channel(bias, h) : h;
}

}  // namespace

Tensor batch_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, double eps, const Tensor& mean,
                  const Tensor& variance) {
  check(x.ndim() >= 2, "batch_norm: wanted (N, C, …), got {}", x.shape());
  check_eps("batch_norm", eps);
  check_per_channel("batch_norm", "weight", weight, x);
  check_per_channel("batch_norm", "bias", bias, x);
  check(mean.defined() == variance.defined(), "batch_norm: give both mean and variance, or neither");
  if (mean.defined()) {
    check_per_channel("batch_norm", "mean", mean, x);
    check_per_channel("batch_norm", "variance", variance, x);
    const Tensor h = (x - per_channel(mean.detach(), x)) / per_channel(sqrt(variance.detach() + eps), x);
    return channel_affine(h, weight, bias);
  }
  // Channels first, so that each is one row.
  std::vector<int> order(static_cast<size_t>(x.ndim()));
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[0], order[1]);
  const Tensor channels = permute(x, order);
  const int64_t per_row = x.numel() / std::max<int64_t>(x.size(1), 1);
  const Tensor h = layer_norm(reshape(channels, {x.size(1), per_row}), Shape{per_row}, {}, {}, eps);
  // The order swaps the first two dimensions, so it is its own inverse.
  return channel_affine(permute(reshape(h, channels.shape()), order), weight, bias);
}

Tensor group_norm(const Tensor& x, int64_t groups, const Tensor& weight, const Tensor& bias, double eps) {
  check(x.ndim() >= 2, "group_norm: wanted (N, C, …), got {}", x.shape());
  check(groups > 0 && x.size(1) % groups == 0, "group_norm: {} groups do not divide {} channels of x {}",
        groups, x.size(1), x.shape());
  check_eps("group_norm", eps);
  check_per_channel("group_norm", "weight", weight, x);
  check_per_channel("group_norm", "bias", bias, x);
  const int64_t rows = x.size(0) * groups, per_row = rows > 0 ? x.numel() / rows : 0;
  const Tensor h = layer_norm(reshape(x, {rows, per_row}), Shape{per_row}, {}, {}, eps);
  return channel_affine(reshape(h, x.shape()), weight, bias);
}

}  // namespace isobar
