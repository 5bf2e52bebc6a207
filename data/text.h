// TextCorpus: a text as tokens, cut into a training and a validation part; and TokenDataset: the windows of
// a run of tokens, with the next token as the target at each place.
//
//   TextCorpus corpus = TextCorpus::read("tinyshakespeare.txt", "char");
//   TokenDataset train(corpus.train(), 64, "training part");
//   auto [x, y] = train.random_batch(12, rng.split(step));   // both (12, 64), y one token ahead of x
//
// Both are read-only once built: threads may share them.
#pragma once

#include <filesystem>
#include <string>

#include "../core/rng.h"
#include "dataset.h"
#include "tokenizer.h"

namespace isobar {

struct TextCorpus {
  std::unique_ptr<const Tokenizer> tokenizer;
  std::vector<int32_t> tokens;

  // Reads a file. `tokenizer` is "char" or "byte". Throws Error where the file cannot be read or is empty.
  static TextCorpus read(const std::filesystem::path& path, std::string_view tokenizer);
  // The same from a text at hand. Throws Error where it is empty.
  static TextCorpus from_text(std::string_view text, std::string_view tokenizer);

  // The first 90 % of the tokens, and the rest: the split of nanoGPT. Views; the corpus must outlive them.
  std::span<const int32_t> train() const { return std::span(tokens).first(train_size()); }
  std::span<const int32_t> validation() const { return std::span(tokens).subspan(train_size()); }

 private:
  size_t train_size() const { return tokens.size() / 10 * 9 + tokens.size() % 10 * 9 / 10; }
};

// Example i is x = tokens[i … i + T), y = tokens[i + 1 … i + T + 1): T next-token questions, where the one
// at place t may look at t + 1 tokens.
class TokenDataset : public Dataset {
 public:
  // T = block_size ≥ 1. The tokens must outlive the dataset. Throws Error where they are fewer than T + 1;
  // `part` says in it which tokens these are ("training part").
  TokenDataset(std::span<const int32_t> tokens, int64_t block_size, std::string_view part);

  // The number of windows.
  int64_t size() const override { return static_cast<int64_t>(tokens_.size()) - block_size_; }
  // x and y: (B, T), i64.
  Batch batch(std::span<const int64_t> indices) const override;
  // Windows at independent uniform places, a pure function of the key: example b starts at draw b.
  Batch random_batch(int64_t batch_size, const Rng& rng) const;

 private:
  std::span<const int32_t> tokens_;
  int64_t block_size_;
};

}  // namespace isobar
