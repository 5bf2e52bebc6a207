#include "tokenizer.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_set>

namespace isobar {
namespace {

// Characters are numbered by their code point; stray byte b is number stray_byte + b, past all code points.
constexpr uint32_t stray_byte = 0x110000;

struct Character {
  uint32_t number;
  size_t bytes;  // how many of the text it takes
};

// The character at the start of a non-empty text. Valid UTF-8 is what RFC 3629 section 4 says: no overlong
// forms, no surrogates, nothing past U+10FFFF.
Character first_character(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const uint32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  const Character stray{stray_byte + lead, 1};
  if (lead < 0xC2 || lead > 0xF4 || text.size() < bytes) return stray;
  uint32_t code_point = lead & (0x7F >> bytes);
  for (size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return stray;
    code_point = code_point << 6 | (byte(i) & 0x3F);
  }
  const bool overlong = (bytes == 3 && code_point < 0x800) || (bytes == 4 && code_point < 0x10000);
  const bool surrogate = code_point >= 0xD800 && code_point < 0xE000;
  if (overlong || surrogate || code_point > 0x10FFFF) return stray;
  return {code_point, bytes};
}

// Calls visit(character number, offset in bytes) for each character from first to last.
template <class Visit>
void for_each_character(std::string_view text, const Visit& visit) {
  for (size_t offset = 0; offset < text.size();) {
    const Character character = first_character(text.substr(offset));
    visit(character.number, offset);
    offset += character.bytes;
  }
}

void append_character(std::string& text, uint32_t number) {
  const auto append = [&](uint32_t byte) { text.push_back(static_cast<char>(byte)); };
  const auto continuation = [&](int shift) { append(0x80 | (number >> shift & 0x3F)); };
  if (number >= stray_byte) {
    append(number - stray_byte);
  } else if (number < 0x80) {
    append(number);
  } else if (number < 0x800) {
    append(0xC0 | number >> 6);
    continuation(0);
  } else if (number < 0x10000) {
    append(0xE0 | number >> 12);
    continuation(6);
    continuation(0);
  } else {
    append(0xF0 | number >> 18);
    continuation(12);
    continuation(6);
    continuation(0);
  }
}

// "'ß' (U+00DF)", "U+0007" for a control character, "byte 0xFF".
std::string name_of_character(uint32_t number) {
  if (number >= stray_byte) return fmt::format("byte 0x{:02X}", number - stray_byte);
  const bool control = number < 0x20 || (number >= 0x7F && number < 0xA0);
  if (control) return fmt::format("U+{:04X}", number);
  std::string glyph;
  append_character(glyph, number);
  return fmt::format("'{}' (U+{:04X})", glyph, number);
}

void check_token(int32_t token, int64_t vocabulary_size) {
  check(token >= 0 && token < vocabulary_size, "decode: token {} is outside of 0 … {}", token,
        vocabulary_size - 1);
}

}  // namespace

CharTokenizer::CharTokenizer(std::string_view text) {
  check(!text.empty(), "char tokenizer: wanted a text to take the characters from, got an empty one");
  std::unordered_set<uint32_t> distinct;
  for_each_character(text, [&](uint32_t number, size_t) { distinct.insert(number); });
  characters_.assign(distinct.begin(), distinct.end());
  std::sort(characters_.begin(), characters_.end());
}

CharTokenizer::CharTokenizer(std::vector<uint32_t> characters) : characters_(std::move(characters)) {
  check(!characters_.empty(), "char tokenizer: wanted at least one character, got none");
  for (size_t i = 0; i < characters_.size(); ++i)
    check(characters_[i] < stray_byte + 256 && (i == 0 || characters_[i] > characters_[i - 1]),
          "char tokenizer: wanted ascending numbers below {}, got {} at place {}", stray_byte + 256,
          characters_[i], i);
}

std::vector<int32_t> CharTokenizer::encode(std::string_view text) const {
  std::vector<int32_t> tokens;
  tokens.reserve(text.size());
  for_each_character(text, [&](uint32_t number, size_t offset) {
    const auto found = std::lower_bound(characters_.begin(), characters_.end(), number);
    if (found == characters_.end() || *found != number)
      throw_error(
          fmt::format("encode: {} at byte {} is none of the {} characters of the tokenizer's text; leave it "
                      "out or use the "
                      "byte tokenizer",
                      name_of_character(number), offset, characters_.size()));
    tokens.push_back(static_cast<int32_t>(found - characters_.begin()));
  });
  return tokens;
}

std::string CharTokenizer::decode(std::span<const int32_t> tokens) const {
  std::string text;
  text.reserve(tokens.size());
  for (const int32_t token : tokens) {
    check_token(token, vocabulary_size());
    append_character(text, characters_[token]);
  }
  return text;
}

std::string CharTokenizer::to_json() const {
  return nlohmann::json{{"type", "char"}, {"characters", characters_}}.dump();
}

std::vector<int32_t> ByteTokenizer::encode(std::string_view text) const {
  const auto as_byte = [](char c) { return static_cast<unsigned char>(c); };
  std::vector<int32_t> tokens(text.size());
  std::transform(text.begin(), text.end(), tokens.begin(), as_byte);
  return tokens;
}

std::string ByteTokenizer::decode(std::span<const int32_t> tokens) const {
  std::string text;
  text.reserve(tokens.size());
  for (const int32_t token : tokens) {
    check_token(token, vocabulary_size());
    text.push_back(static_cast<char>(token));
  }
  return text;
}

std::string ByteTokenizer::to_json() const { return nlohmann::json{{"type", "byte"}}.dump(); }

std::unique_ptr<Tokenizer> make_tokenizer(std::string_view kind, std::string_view text) {
  check(kind == "char" || kind == "byte", "tokenizer: wanted char or byte, got {}", kind);
  if (kind == "char") return std::make_unique<CharTokenizer>(text);
  return std::make_unique<ByteTokenizer>();
}

std::unique_ptr<Tokenizer> tokenizer_from_json(std::string_view text) {
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  check(json.is_object() && json.contains("type") && json["type"].is_string(),
        "tokenizer: wanted a JSON object with a type, got {} bytes that are none", text.size());
  const std::string type = json["type"];
  if (type == "byte") return std::make_unique<ByteTokenizer>();
  check(type == "char", "tokenizer: wanted type char or byte, got '{}'", type);
  check(json.contains("characters") && json["characters"].is_array(),
        "char tokenizer: wanted a list of characters");
  std::vector<uint32_t> characters;
  for (const nlohmann::json& number : json["characters"]) {
    check(number.is_number_unsigned() && number < uint64_t{UINT32_MAX},
          "char tokenizer: wanted whole numbers as characters");
    characters.push_back(number);
  }
  return std::make_unique<CharTokenizer>(std::move(characters));
}

}  // namespace isobar
