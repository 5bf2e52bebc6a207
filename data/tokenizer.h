// Tokenizer: turns text into small integers and back.
//
//   CharTokenizer tokenizer("to be or not to be");
//   tokenizer.vocabulary_size();          // 7: space b e n o r t
//   tokenizer.encode("bet");              // 1 2 6
//   tokenizer.decode(tokenizer.encode("not"));   // "not"
//
// decode(encode(s)) == s for every byte string that encode accepts, valid UTF-8 or not. Tokenizers are
// read-only once built: threads may share them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../core/error.h"

namespace isobar {

class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  // Token ids are 0 … vocabulary_size() − 1.
  virtual int64_t vocabulary_size() const = 0;
  // Throws Error that names the first character without a token and its place.
  virtual std::vector<int32_t> encode(std::string_view text) const = 0;
  // Throws Error for an id outside of the vocabulary.
  virtual std::string decode(std::span<const int32_t> tokens) const = 0;
  // The tokenizer whole, as the JSON text that tokenizer_from_json() takes.
  virtual std::string to_json() const = 0;
};

// One token per distinct character (Unicode code point) of a text, in code point order. A byte that is not
// part of valid UTF-8 counts as a character of its own; such bytes come last, in byte order.
class CharTokenizer : public Tokenizer {
 public:
  // Throws Error for an empty text.
  explicit CharTokenizer(std::string_view text);
  // Of the characters with these numbers: a code point, or 0x110000 + b for a stray byte b. Throws Error
  // unless they ascend within that range and there is at least one.
  explicit CharTokenizer(std::vector<uint32_t> characters);

  int64_t vocabulary_size() const override { return static_cast<int64_t>(characters_.size()); }
  std::vector<int32_t> encode(std::string_view text) const override;
  std::string decode(std::span<const int32_t> tokens) const override;
  // {"type": "char", "characters": [10, 32, …]}
  std::string to_json() const override;

 private:
  std::vector<uint32_t> characters_;  // sorted; a token is an index into it
};

// One token per byte: 256 of them, and no text without an encoding.
class ByteTokenizer : public Tokenizer {
 public:
  int64_t vocabulary_size() const override { return 256; }
  std::vector<int32_t> encode(std::string_view text) const override;
  std::string decode(std::span<const int32_t> tokens) const override;
  // {"type": "byte"}
  std::string to_json() const override;
};

// "char" or "byte"; a char tokenizer takes its vocabulary from `text`. Throws Error for another kind.
std::unique_ptr<Tokenizer> make_tokenizer(std::string_view kind, std::string_view text);
// The tokenizer that wrote this text. Distrusts it: throws Error where to_json() of none could have written
// it.
std::unique_ptr<Tokenizer> tokenizer_from_json(std::string_view text);

}  // namespace isobar
