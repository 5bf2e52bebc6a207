// B03, C02: statistics over a batch depend on who else is in it, and are poor estimates when it is small.
#include "../../nn/nn.h"
#include "properties.h"

namespace isobar::properties {

namespace {

// Of N(0, 1) data, batches of B rows: the rms of BatchNorm's output y less x, which is the output with the
// true mean 0 and std 1. E y² = E x² = 1, and the mean of x y over a batch is its population std s:
//
//   E (y − x)² = 2 − 2 E s,   E s = √(2/B) Γ(B/2) / Γ((B − 1)/2)   (s² B is χ² with B − 1 degrees of freedom)
//
// to first order √(1.5/B).
double batch_norm_error(int64_t batch) {
  const auto b = static_cast<double>(batch);
  const double mean_std = std::sqrt(2 / b) * std::exp(std::lgamma(b / 2) - std::lgamma((b - 1) / 2));
  return std::sqrt(2 - 2 * mean_std);
}

}  // namespace

void measure_batches(Measurements& measurements, const Rng& rng) {
  for (const int64_t batch : {2, 8, 32, 256}) {
    const Tensor x = rng.split(static_cast<uint64_t>(batch)).normal({batch, 4096}, 0, 1, Dtype::f64);
    const double error = std::sqrt(mean(square(batch_norm(x, {}, {}, 1e-5) - x)).item());
    measurements.add(fmt::format("batch.batchnorm.error.b{}", batch), error, batch_norm_error(batch));
  }
  const Tensor x = rng.split("row").normal({256, 512}, 0, 1, Dtype::f64);
  const Tensor all = layer_norm(x, {512}, {}, {}, 1e-5);
  const Tensor alone = layer_norm(slice(x, 0, 0, 1), {512}, {}, {}, 1e-5);
  measurements.add("batch.layernorm.change", largest_difference(slice(all, 0, 0, 1), alone), 0);
}

}  // namespace isobar::properties
