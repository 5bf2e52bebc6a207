// BpeTokenizer: byte-level byte pair encoding as GPT-2 has it (Sennrich et al. 2016; Radford et al. 2019). A
// text is split into words (pretokenize.h), a word begins as its bytes, and of all pairs of neighbours the
// one that comes first among the merges becomes one token, the leftmost of equals first, until there is none.
//
//   const BpeTokenizer tokenizer = BpeTokenizer::from_json(text, "bpe.json");   // Hugging Face's format
//   tokenizer.encode("hello hello");
//
// Every byte has a token, so decode(encode(s)) == s for every byte string. Special tokens ("<|endoftext|>")
// have a number and a text, but encode never makes them: a corpus that spells one out is text like any other.
#pragma once

#include <array>
#include <unordered_map>

#include "tokenizer.h"

namespace isobar {

class BpeTokenizer : public Tokenizer {
 public:
  using Pair = std::pair<int32_t, int32_t>;

  // `tokens` are the bytes of each token by number, `merges` the pairs from first to last, and the tokens in
  // `specials` special. Throws Error where a byte has no token, a token comes twice or from nowhere, or a
  // merge makes no token.
  BpeTokenizer(std::vector<std::string> tokens, std::vector<Pair> merges, std::vector<int32_t> specials);

  // A tokenizer.json. Throws Error that names what in it is not byte-level BPE with GPT-2's split: another
  // model, pre-tokenizer, normalizer, post-processor, decoder, or an added token that is not special.
  static BpeTokenizer from_json(std::string_view json, const std::string& name);

  int64_t vocabulary_size() const override { return static_cast<int64_t>(tokens_.size()); }
  size_t encode_part(const TextPart& part, std::vector<int32_t>& tokens) const override;
  std::string decode(std::span<const int32_t> tokens) const override;
  // The token <|endoftext|>, where it is one of the special ones.
  std::vector<int32_t> separator() const override;
  // A tokenizer.json that Hugging Face's tokenizers reads.
  std::string to_json() const override;

  const std::vector<Pair>& merges() const { return merges_; }

 private:
  struct Merge {
    int32_t rank, token;
  };

  const Merge* find_merge(int32_t left, int32_t right) const;
  void encode_word(std::string_view word, std::vector<int32_t>& tokens) const;

  std::vector<std::string> tokens_;
  std::vector<Pair> merges_;
  std::vector<int32_t> specials_;
  std::array<int32_t, 256> bytes_;               // the token of each byte
  std::unordered_map<uint64_t, Merge> by_pair_;  // of a pair: when it merges, and to what
};

// The 256 bytes in the order of GPT-2's vocabulary: first the printable ones.
std::vector<std::string> byte_vocabulary();

}  // namespace isobar
