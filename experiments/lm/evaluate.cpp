#include "evaluate.h"

#include "../../core/profile.h"
#include "../../nn/evaluation.h"

namespace isobar {

Tensor loss_of(Module& model, const Batch& batch) {
  if (auto* language_model = dynamic_cast<LanguageModel*>(&model))
    return language_model->loss(batch.x, batch.y);
  return cross_entropy(model(batch.x), batch.y);
}

double mean_loss(Module& model, const TokenDataset& data, int64_t batches, int64_t batch_size, const Rng& rng,
                 Ranks& ranks) {
  const Phase phase("evaluation");
  const Evaluation here(model);
  std::vector<double> mine;
  for (int64_t i = ranks.share(batches).begin; i < ranks.share(batches).end; ++i)
    mine.push_back(loss_of(model, data.random_batch(batch_size, rng.split(i))).item());
  double total = 0;
  for (const double loss : ranks.gather(mine, batches)) total += loss;
  return total / static_cast<double>(batches);
}

}  // namespace isobar
