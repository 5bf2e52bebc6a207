// TextCorpus: a text as tokens, divided into a training and a validation part. TokenDataset: the windows of T
// tokens in a sequence, with the next token as the target at each position.
//
//   TextCorpus corpus = TextCorpus::read("tinyshakespeare.txt", "char");
//   TokenDataset train(corpus.train(), 64, "training part");
//   auto [x, y] = train.random_batch(12, rng.split(step));   // both (12, 64), y one token ahead of x
//
// Both are read-only once built: threads may share them.
#pragma once

#include <filesystem>

#include "../core/index_range.h"
#include "../core/rng.h"
#include "dataset.h"
#include "tokenizer.h"

namespace isobar {

// The number of tokens at the start of a corpus that are for training: 90 %, as in nanoGPT. The others are
// for validation.
inline int64_t train_part(int64_t tokens) { return tokens / 10 * 9 + tokens % 10 * 9 / 10; }

struct TextCorpus {
  std::unique_ptr<const Tokenizer> tokenizer;
  std::vector<int32_t> tokens;

  // Reads a file. `tokenizer` is an argument of make_tokenizer. Throws Error if the file cannot be read or is
  // empty.
  static TextCorpus read(const std::filesystem::path& path, std::string_view tokenizer);
  // Takes a text in memory. Throws Error if it is empty.
  static TextCorpus from_text(std::string_view text, std::string_view tokenizer);

  // The two parts, as views; the corpus must outlive them.
  std::span<const int32_t> train() const& { return std::span(tokens).first(train_size()); }
  std::span<const int32_t> validation() const& { return std::span(tokens).subspan(train_size()); }
  std::span<const int32_t> train() const&& = delete;
  std::span<const int32_t> validation() const&& = delete;

 private:
  size_t train_size() const { return train_part(static_cast<int64_t>(tokens.size())); }
};

// Tokens that are read on demand, such as from a file.
class TokenSource {
 public:
  virtual ~TokenSource() = default;
  virtual int64_t size() const = 0;
  // The tokens begin … begin + tokens.size() − 1. Throws Error if they are outside of 0 … size() − 1.
  virtual void read(int64_t begin, std::span<int32_t> tokens) const = 0;
};

// Example i is x = tokens[i … i + T), y = tokens[i + 1 … i + T + 1): the prediction of y[t] may use x[0 … t].
class TokenDataset : public Dataset {
 public:
  // T = block_size ≥ 1. The tokens must outlive the dataset. Throws Error for fewer than T + 1 tokens; `part`
  // names the tokens in its text ("training part").
  TokenDataset(std::span<const int32_t> tokens, int64_t block_size, std::string_view part);
  TokenDataset(const std::vector<int32_t>&& tokens, int64_t block_size, std::string_view part) = delete;

  // Takes the tokens begin … end − 1 of a source, which must outlive the dataset.
  TokenDataset(const TokenSource& source, int64_t begin, int64_t end, int64_t block_size,
               std::string_view part);
  TokenDataset(const TokenSource&& source, int64_t begin, int64_t end, int64_t block_size,
               std::string_view part) = delete;

  // The number of windows.
  int64_t size() const override { return length_ - block_size_; }
  // x and y: (B, T), i64.
  Batch batch(std::span<const int64_t> indices) const override;
  // Returns windows at independent uniform positions, a pure function of the key: example b starts at random
  // number b.
  Batch random_batch(int64_t batch_size, const Rng& rng) const;
  // Returns examples begin … end − 1 of such a batch, for a rank that needs no others.
  Batch random_batch(IndexRange examples, const Rng& rng) const;

 private:
  void check_length(std::string_view part) const;

  std::span<const int32_t> tokens_;      // in memory; empty if
  const TokenSource* source_ = nullptr;  // the tokens are read from here, starting at begin_
  int64_t begin_ = 0, length_, block_size_;
};

}  // namespace isobar
