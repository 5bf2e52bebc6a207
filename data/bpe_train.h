// Training of byte-level BPE: the pair of neighbouring tokens that occurs most often within words becomes a
// token, again and again (Sennrich et al. 2016, algorithm 1).
//
//   WordCounts counts;
//   counts.add({text});
//   BpeTokenizer tokenizer = train_bpe(counts, {.vocab_size = 6400});
//
// Of pairs that occur equally often, the pair with the smaller left id comes first, then the pair with the
// smaller right id. Ids are assigned as in GPT-2: the bytes in the order of its table, the merged tokens, the
// special tokens. So the result is a function of the text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bpe.h"

namespace isobar {

// The number of occurrences of each word. Memory grows with the number of distinct words, not with the text.
class WordCounts {
 public:
  // Counts the words of the part that no following text can change, and returns the number of their bytes.
  size_t add(const TextPart& part);
  // The number of distinct words, and of all words.
  size_t size() const { return counts_.size(); }
  int64_t total() const;

 private:
  friend class BpeTrainer;
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  std::unordered_map<std::string, int64_t, Hash, std::equal_to<>> counts_;
};

struct BpeOptions {
  int64_t vocab_size;
  std::vector<std::string> specials = {"<|endoftext|>"};
};

// Throws Error if vocab_size is smaller than 256 plus the special tokens or larger than the pairs of the text
// allow, or if the distinct words have 2^32 bytes or more.
BpeTokenizer train_bpe(const WordCounts& counts, const BpeOptions& options);

}  // namespace isobar
