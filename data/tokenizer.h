// Tokenizer: converts text to token ids and back.
//
//   CharTokenizer tokenizer("to be or not to be");
//   tokenizer.vocab_size();          // 7: space b e n o r t
//   tokenizer.encode("bet");              // 1 2 6
//   tokenizer.decode(tokenizer.encode("not"));   // "not"
//
// decode(encode(s)) == s for every byte string that encode accepts, valid UTF-8 or not. Tokenizers are
// read-only once built: threads may share them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "../core/error.h"

namespace isobar {

// A part of a longer text, as a file is read.
struct TextPart {
  std::string_view text;
  bool last = true;     // whether the whole text ends here
  uint64_t offset = 0;  // where the part begins in the whole text, for errors
};

class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  // Token ids are 0 … vocab_size() − 1.
  virtual int64_t vocab_size() const = 0;
  // Throws Error that names the first character that has no token, and its place.
  std::vector<int32_t> encode(std::string_view text) const;
  // Appends the tokens of the part that no following text can change, and returns the number of their bytes:
  // all bytes of a last part. The next part must start with the remaining bytes; the tokens are then those of
  // the whole text. Throws as encode does.
  virtual size_t encode_part(const TextPart& part, std::vector<int32_t>& tokens) const = 0;
  // Throws Error for an id outside of the vocabulary.
  std::string decode(std::span<const int32_t> tokens) const;
  // The tokens between two documents of a corpus: a newline, unless the tokenizer has a token for it.
  virtual std::vector<int32_t> separator() const { return encode("\n"); }
  // The tokenizer as a JSON text, from which tokenizer_from_json makes an equal one.
  virtual std::string to_json() const = 0;
  // "char", "byte" or "bpe".
  virtual std::string kind() const = 0;
  // Hugging Face's tokenizer.json, whose library tokenizes alike; tokenizer_from_json makes an equal one of
  // it too. Characters and bytes are BPE without merges there. Its text has no stray bytes, so that their
  // tokens ("<0xFF>") are never made from one.
  virtual std::string to_hugging_face() const = 0;

 private:
  // Appends the bytes of a token, an id of the vocabulary.
  virtual void decode_one(int32_t token, std::string& text) const = 0;
};

// One token per distinct character (Unicode code point) of a text, in code point order. A byte that is not
// part of valid UTF-8 counts as a character of its own; such bytes come last, in byte order.
class CharTokenizer : public Tokenizer {
 public:
  // Throws Error for an empty text.
  explicit CharTokenizer(std::string_view text);
  // From the characters' numbers (utf8.h). Throws Error unless they are sorted and distinct.
  explicit CharTokenizer(std::vector<uint32_t> characters);

  int64_t vocab_size() const override { return static_cast<int64_t>(characters_.size()); }
  size_t encode_part(const TextPart& part, std::vector<int32_t>& tokens) const override;
  std::string to_json() const override;
  std::string kind() const override { return "char"; }
  std::string to_hugging_face() const override;

 private:
  void decode_one(int32_t token, std::string& text) const override;

  std::vector<uint32_t> characters_;  // sorted; a token is an index into it
};

// One token per byte. It encodes every text.
class ByteTokenizer : public Tokenizer {
 public:
  int64_t vocab_size() const override { return 256; }
  size_t encode_part(const TextPart& part, std::vector<int32_t>& tokens) const override;
  std::string to_json() const override;
  std::string kind() const override { return "byte"; }
  std::string to_hugging_face() const override;

 private:
  void decode_one(int32_t token, std::string& text) const override { text += static_cast<char>(token); }
};

// Makes a tokenizer: "char", "byte", or the path of a file that ends in .json and has a tokenizer. A char
// tokenizer takes its vocabulary from `text`. Throws Error for any other name.
std::unique_ptr<Tokenizer> make_tokenizer(std::string_view kind, std::string_view text);

// The tokenizer that to_json() or to_hugging_face() wrote, of any kind, or a byte-level BPE tokenizer of
// Hugging Face (bpe.h); Errors contain `name`. Throws Error for any other text.
std::unique_ptr<Tokenizer> tokenizer_from_json(std::string_view json, const std::string& name = "the text");

// tokenizer_from_json() of a file.
std::unique_ptr<Tokenizer> read_tokenizer(const std::string& path);

// Passes a text that arrives in parts to a function that needs whole characters and words.
//
//   TextFeed feed;
//   std::vector<int32_t> tokens;
//   const auto encode = [&](const TextPart& part) { return tokenizer.encode_part(part, tokens); };
//   feed.add("It", false, encode);
//   feed.add("'s", true, encode);      // tokens are now those of "It's"
class TextFeed {
 public:
  // `take(part)` returns how many bytes it has processed: all bytes of a last part. The others are passed
  // again, followed by the next piece. After a last piece a new text may start.
  template <class Take>
  void add(std::string_view piece, bool last, const Take& take) {
    rest_ += piece;
    const size_t taken = take(TextPart{rest_, last, offset_});
    rest_.erase(0, taken);
    offset_ = last ? 0 : offset_ + taken;
  }

 private:
  std::string rest_;
  uint64_t offset_ = 0;
};

// The characters of a text that arrives in parts, for a CharTokenizer.
class CharacterSet {
 public:
  // Adds the characters of the part that no following text can change, and returns the number of their bytes.
  size_t add(const TextPart& part);
  // Their numbers, sorted.
  std::vector<uint32_t> characters() const;

 private:
  std::vector<uint64_t> seen_;  // 64 characters in each, by number
};

}  // namespace isobar
