// BpeTokenizer: byte-level byte pair encoding as GPT-2 has it (Sennrich et al. 2016; Radford et al. 2019). A
// text is split into words, and a word starts as its bytes. Then the pair of neighbouring tokens that comes
// first in the list of merges becomes one token, the leftmost such pair first, until no pair is in the list.
//
//   const BpeTokenizer tokenizer = BpeTokenizer::from_json(text, "bpe.json");   // Hugging Face's format
//   tokenizer.encode("hello hello");
//
// Every byte has a token, so decode(encode(s)) == s for every byte string. Special tokens ("<|endoftext|>")
// have an id and a text, but encode never produces them: their spelling in a corpus is ordinary text.
#pragma once

#include <array>
#include <unordered_map>

#include "tokenizer.h"
#include "utf8.h"

namespace isobar {

class BpeTokenizer : public Tokenizer {
 public:
  using Pair = std::pair<int32_t, int32_t>;
  static uint64_t key_of(Pair pair) {
    return static_cast<uint64_t>(pair.first) << 32 | static_cast<uint32_t>(pair.second);
  }

  // `tokens` are the bytes of each token by id, `merges` the pairs from first to last, `specials` the ids of
  // the special tokens. Throws Error if a byte has no token, a token is there twice or is neither a byte,
  // merged nor special, or a merge makes no token.
  BpeTokenizer(std::vector<std::string> tokens, std::vector<Pair> merges, std::vector<int32_t> specials);

  // Reads a tokenizer.json. Throws Error that names what is not byte-level BPE with GPT-2's split: another
  // model, pre-tokenizer, normalizer, post-processor, decoder, or an added token that is not special.
  static BpeTokenizer from_json(std::string_view json, const std::string& name);

  int64_t vocab_size() const override { return static_cast<int64_t>(tokens_.size()); }
  size_t encode_part(const TextPart& part, std::vector<int32_t>& tokens) const override;
  // The token <|endoftext|> if it is a special token, else a newline.
  std::vector<int32_t> separator() const override;
  // A tokenizer.json that Hugging Face's tokenizers reads.
  std::string to_json() const override;
  std::string kind() const override { return "bpe"; }
  std::string to_hugging_face() const override { return to_json(); }

  const std::vector<Pair>& merges() const { return merges_; }

 private:
  struct Merge {
    int32_t rank, token;
  };

  void decode_one(int32_t token, std::string& text) const override { text += tokens_[token]; }
  const Merge* find_merge(int32_t left, int32_t right) const;
  void encode_word(std::string_view word, std::vector<int32_t>& tokens) const;

  std::vector<std::string> tokens_;
  std::vector<Pair> merges_;
  std::vector<int32_t> specials_;
  std::array<int32_t, 256> bytes_;               // the token of each byte
  std::unordered_map<uint64_t, Merge> by_pair_;  // a pair's rank among the merges, and its token
};

// The 256 bytes in the order of GPT-2's vocabulary, which starts with the printable bytes.
std::vector<std::string> byte_vocabulary();

// GPT-2's split of a text into words; byte-level BPE merges within words (Radford et al. 2019; openai/gpt-2,
// src/encoder.py):
//
//   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
//
//   split_words("It's  25 €")        // "It" "'s" " " " 25" " €"
//
// Character classes are those of Unicode 15.0, whichever libutf8proc is installed, from 2.8 on; \s is
// White_Space. A byte that is not part of valid UTF-8 is a character that is neither letter, number nor
// space. The concatenated words are the text. One rule is added: a word that would be longer than
// longest_word bytes ends with the last character that fits, and the next word starts there, so that a text
// of any size can be split in little memory.
inline constexpr size_t longest_word = size_t{1} << 16;

// The length in bytes of the first word of a non-empty text.
size_t first_word(std::string_view text);

// Calls visit(word) for the words of a text in order and returns the number of their bytes. Unless `last`,
// more text may follow, and only words that no following text can change are visited.
template <class Visit>
size_t for_each_word(std::string_view text, bool last, const Visit& visit) {
  constexpr size_t longest_contraction = 3;
  if (!last) text.remove_suffix(incomplete_bytes(text));
  size_t begin = 0;
  while (begin < text.size()) {
    const size_t length = first_word(text.substr(begin));
    // A run of characters goes on until another kind is seen, and "'" may begin a contraction.
    if (!last && (begin + length == text.size() || begin + longest_contraction > text.size())) break;
    visit(text.substr(begin, length));
    begin += length;
  }
  return begin;
}

// All words of a text, as views into it.
std::vector<std::string_view> split_words(std::string_view text);

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

// Options of train_bpe().
struct BpeOptions {
  int64_t vocab_size;
  std::vector<std::string> specials = {"<|endoftext|>"};
};

// Throws Error if vocab_size is smaller than 256 plus the special tokens or larger than the pairs of the text
// allow, or if the distinct words have 2^32 bytes or more.
BpeTokenizer train_bpe(const WordCounts& counts, const BpeOptions& options);

// The tokenizer of bytes or of characters that to_hugging_face() wrote as BPE without merges; null for
// another text.
std::unique_ptr<Tokenizer> without_merges(std::string_view json);

}  // namespace isobar
