#include "text.h"

#include <algorithm>

#include "../core/phase.h"
#include "../core/raw.h"
#include "text_input.h"

namespace isobar {
TextCorpus TextCorpus::read(const std::filesystem::path& path, std::string_view tokenizer) {
  return from_text(read_text(path), tokenizer);
}

TextCorpus TextCorpus::from_text(std::string_view text, std::string_view tokenizer) {
  check(!text.empty(), "text: wanted a corpus, got an empty text");
  TextCorpus corpus;
  corpus.tokenizer = make_tokenizer(tokenizer, text);
  corpus.tokens = corpus.tokenizer->encode(text);
  return corpus;
}

TokenDataset::TokenDataset(std::span<const int32_t> tokens, int64_t block_size, std::string_view part)
    : tokens_(tokens), length_(static_cast<int64_t>(tokens.size())), block_size_(block_size) {
  check_length(part);
}

TokenDataset::TokenDataset(const TokenSource& source, int64_t begin, int64_t end, int64_t block_size,
                           std::string_view part)
    : source_(&source), begin_(begin), length_(end - begin), block_size_(block_size) {
  check(begin >= 0 && begin <= end && end <= source.size(),
        "text: wanted the {} within {} tokens, got {} … {}", part, source.size(), begin, end - 1);
  check_length(part);
}

void TokenDataset::check_length(std::string_view part) const {
  check(block_size_ >= 1, "text: wanted a block size of at least 1, got {}", block_size_);
  if (length_ > block_size_) return;
  const std::string repair = length_ >= 2
                                 ? fmt::format("a block_size of at most {} or a longer corpus", length_ - 1)
                                 : "a longer corpus";
  throw_error(fmt::format("text: the {} holds {} tokens, but a block of {} needs at least {}; take {}", part,
                          length_, block_size_, static_cast<uint64_t>(block_size_) + 1, repair));
}

Batch TokenDataset::batch(std::span<const int64_t> indices) const {
  const Phase phase("data");
  const Shape shape{static_cast<int64_t>(indices.size()), block_size_};
  Batch result{Tensor(shape, Dtype::i64), Tensor(shape, Dtype::i64)};
  int64_t* x = raw::write<int64_t>(result.x);
  int64_t* y = raw::write<int64_t>(result.y);
  std::vector<int32_t> read(source_ != nullptr ? block_size_ + 1 : 0);
  for (const int64_t index : indices) {
    check(index >= 0 && index < size(), "text: window {} is outside of 0 … {}", index, size() - 1);
    if (source_ != nullptr) source_->read(begin_ + index, read);
    const int32_t* window = source_ != nullptr ? read.data() : tokens_.data() + index;
    x = std::copy_n(window, block_size_, x);
    y = std::copy_n(window + 1, block_size_, y);
  }
  return result;
}

Batch TokenDataset::random_batch(int64_t batch_size, const Rng& rng) const {
  check(batch_size >= 1, "text: wanted a batch size of at least 1, got {}", batch_size);
  return random_batch({0, batch_size}, rng);
}

Batch TokenDataset::random_batch(IndexRange examples, const Rng& rng) const {
  std::vector<int64_t> indices;
  for (int64_t b = examples.begin; b < examples.end; ++b)
    indices.push_back(static_cast<int64_t>(rng.below(size(), b)));
  return batch(indices);
}

}  // namespace isobar
