#include "evaluate.h"

#include <algorithm>

#include "../../nn/model.h"

namespace isobar {

Tensor loss_of(Module& model, const Batch& batch) {
  if (auto* language_model = dynamic_cast<LanguageModel*>(&model))
    return language_model->loss(batch.x, batch.y);
  return cross_entropy(model(batch.x), batch.y);
}

double mean_loss(Module& model, const TokenDataset& data, int64_t batches, int64_t batch_size,
                 const Rng& rng) {
  eval(model);
  double total = 0;
  for (int64_t i = 0; i < batches; ++i)
    total += loss_of(model, data.random_batch(batch_size, rng.split(i))).item();
  train(model);
  return total / static_cast<double>(batches);
}

TextLoss text_loss(LanguageModel& model, std::span<const int32_t> tokens) {
  check(tokens.size() >= 2, "text_loss: wanted at least two tokens, got {}", tokens.size());
  eval(model);
  TextLoss loss;
  const int64_t questions = static_cast<int64_t>(tokens.size()) - 1, length = model.config.block_size;
  for (int64_t begin = 0; begin < questions;) {
    // Several whole windows at a time, and what is left as a window of its own.
    const int64_t left = questions - begin, windows = std::clamp<int64_t>(left / length, 1, 16);
    const int64_t width = std::min(left, length), count = windows * width;
    const auto part = [&](int64_t first) {
      return tensor<int32_t>({windows, width},
                             tokens.subspan(static_cast<size_t>(first), static_cast<size_t>(count)));
    };
    loss.nats += model.loss(part(begin), part(begin + 1)).item() * static_cast<double>(count);
    loss.tokens += count;
    begin += count;
  }
  train(model);
  return loss;
}

}  // namespace isobar
