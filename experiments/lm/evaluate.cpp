#include "evaluate.h"

#include <algorithm>

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

std::vector<int32_t> sample(LanguageModel& model, std::vector<int32_t> prompt, int64_t count,
                            double temperature, const Rng& key) {
  check(!prompt.empty(), "sample: wanted a prompt of at least one token");
  check(temperature > 0, "sample: wanted a temperature above 0, got {}", temperature);
  eval(model);
  std::vector<int32_t> tokens = std::move(prompt);
  for (int64_t i = 0; i < count; ++i) {
    const size_t seen = std::min<size_t>(tokens.size(), model.config.block_size);
    const std::span<const int32_t> context = std::span<const int32_t>(tokens).last(seen);
    const Tensor logits = model(tensor<int32_t>({1, static_cast<int64_t>(seen)}, context));
    const Tensor last = slice(logits, 1, logits.size(1) - 1, logits.size(1));
    const std::vector<double> chance = softmax(last / temperature).to_vector<double>();
    // The token at which the running sum of chances passes a uniform number.
    double left = key.uniform_at(i);
    size_t token = 0;
    while (token + 1 < chance.size() && left >= chance[token]) left -= chance[token++];
    tokens.push_back(static_cast<int32_t>(token));
  }
  train(model);
  return tokens;
}

std::string printable(std::string_view text) {
  std::string result;
  for (size_t i = 0; i < text.size();) {
    const unsigned char c = text[i];
    // The length of a UTF-8 sequence by its first byte; 0: none begins like this.
    const size_t length = c < 0x80                ? 1
                          : c >= 0xc2 && c < 0xe0 ? 2
                          : (c & 0xf0) == 0xe0    ? 3
                          : (c & 0xf8) == 0xf0    ? 4
                                                  : 0;
    bool valid = length > 0 && i + length <= text.size() && (c >= 0x20 || c == '\n');
    for (size_t j = 1; valid && j < length; ++j) valid = (text[i + j] & 0xc0) == 0x80;
    result += valid ? text.substr(i, length) : "\xef\xbf\xbd";
    i += valid ? length : 1;
  }
  return result;
}

}  // namespace isobar
