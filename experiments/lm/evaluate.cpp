#include "evaluate.h"

namespace isobar {

double mean_loss(Module& model, const TokenDataset& data, int64_t batches, int64_t batch_size,
                 const Rng& key) {
  eval(model);
  double total = 0;
  for (int64_t i = 0; i < batches; ++i) {
    const auto [x, y] = data.random_batch(batch_size, key.split(i));
    total += cross_entropy(model(x), y).item();
  }
  train(model);
  return total / static_cast<double>(batches);
}

}  // namespace isobar
