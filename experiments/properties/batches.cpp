// B03, C02: statistics over a batch depend on who else is in it, and are poor estimates when it is small.
#include <cmath>

#include "../../nn/nn.h"
#include "properties.h"

namespace isobar::properties {

// Of N(0, 1) data, batches of B rows: BatchNorm's output against the one with the true mean 0 and std 1, as
// the rms of the difference. To first order it is the mean's error 1/√B and the std's x/√(2B): √(1.5/B).
void measure_batches(Figures& figures, const Rng& rng) {
  for (const int64_t batch : {2, 8, 32, 256}) {
    const Tensor x = rng.split(static_cast<uint64_t>(batch)).normal({batch, 4096}, 0, 1, Dtype::f64);
    const double error = std::sqrt(mean(square(batch_norm(x, {}, {}, 1e-5) - x)).item());
    figures.add(fmt::format("batch.batchnorm.error.b{}", batch), error,
                batch >= 32 ? std::sqrt(1.5 / static_cast<double>(batch)) : Run::no_theory);
  }
  const Tensor x = rng.split("row").normal({256, 512}, 0, 1, Dtype::f64);
  const Tensor all = layer_norm(x, {512}, {}, {}, 1e-5);
  const Tensor alone = layer_norm(slice(x, 0, 0, 1), {512}, {}, {}, 1e-5);
  figures.add("batch.layernorm.change", largest_difference(slice(all, 0, 0, 1), alone), 0);
}

}  // namespace isobar::properties
