// BpeTokenizer: byte-level byte pair encoding as GPT-2 has it (Sennrich et al. 2016; Radford et al. 2019). A
// text is split into words (pretokenize.h). A word starts as its bytes. Then the pair of neighbouring tokens
// that comes first in the list of merges becomes one token, the leftmost such pair first, until no pair is in
// the list.
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

}  // namespace isobar
