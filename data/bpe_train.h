// Training of byte-level BPE: of all pairs of neighbouring tokens inside of words, the one that occurs most
// often becomes a token, again and again (Sennrich et al. 2016, algorithm 1).
//
//   WordCounts counts;
//   counts.add({text});
//   BpeTokenizer tokenizer = train_bpe(counts, {.vocabulary_size = 6400});
//
// Of pairs that occur equally often, the one whose left token has the smaller number comes first, then the
// one whose right token has. Numbers are those of GPT-2: the bytes in the order of its table, the merged
// tokens, the special ones. So a text has one tokenizer.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "bpe.h"

namespace isobar {

// How often each word occurs. Takes memory with the number of distinct words, not with the length of the
// text.
class WordCounts {
 public:
  // Counts the words at the start of the part that no following text can change, and returns their bytes.
  size_t add(const TextPart& part);
  // The number of distinct words, and of the words altogether.
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
  int64_t vocabulary_size;
  std::vector<std::string> specials = {"<|endoftext|>"};
};

// Throws Error for a vocabulary smaller than the bytes and the special tokens, larger than the words have
// pairs for, and for words of more than 2^32 bytes, each taken once.
BpeTokenizer train_bpe(const WordCounts& counts, const BpeOptions& options);

}  // namespace isobar
