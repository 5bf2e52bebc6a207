#include "text_loss.h"

#include <algorithm>

#include "../model.h"

namespace isobar {

TextLoss text_loss(LanguageModel& model, std::span<const int32_t> tokens) {
  check(tokens.size() >= 2, "text_loss: wanted at least two tokens, got {}", tokens.size());
  const Evaluation here(model);
  TextLoss loss;
  const int64_t predictions = static_cast<int64_t>(tokens.size()) - 1, length = model.config.block_size;
  for (int64_t begin = 0; begin < predictions;) {
    // Several whole windows at a time, and what is left as a window of its own.
    const int64_t left = predictions - begin, windows = std::clamp<int64_t>(left / length, 1, 16);
    const int64_t width = std::min(left, length), count = windows * width;
    const auto part = [&](int64_t first) {
      return tensor<int32_t>({windows, width},
                             tokens.subspan(static_cast<size_t>(first), static_cast<size_t>(count)));
    };
    loss.nats += model.loss(part(begin), part(begin + 1)).item() * static_cast<double>(count);
    loss.tokens += count;
    begin += count;
  }
  return loss;
}

}  // namespace isobar
