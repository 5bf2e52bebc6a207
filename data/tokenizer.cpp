#include "tokenizer.h"

#include <algorithm>
#include <bit>
#include <nlohmann/json.hpp>

#include "bpe.h"
#include "file.h"
#include "json_text.h"
#include "utf8.h"
#include "utf8_stream.h"

namespace isobar {
namespace {

using Json = nlohmann::json;

// "'ß' (U+00DF)", "U+0007" for a control character, "byte 0xFF".
std::string name_of_character(uint32_t number) {
  if (number >= stray_byte) return fmt::format("byte 0x{:02X}", number - stray_byte);
  const bool control = number < 0x20 || (number >= 0x7F && number < 0xA0);
  if (control) return fmt::format("U+{:04X}", number);
  std::string glyph;
  append_character(glyph, number);
  return fmt::format("'{}' (U+{:04X})", glyph, number);
}

// The part without an incomplete character at its end.
std::string_view whole_characters(const TextPart& part) {
  return part.text.substr(0, part.text.size() - (part.last ? 0 : incomplete_bytes(part.text)));
}

}  // namespace

std::vector<int32_t> Tokenizer::encode(std::string_view text) const {
  std::vector<int32_t> tokens;
  encode_part({text}, tokens);
  return tokens;
}

std::string Tokenizer::decode(std::span<const int32_t> tokens) const {
  std::string text;
  for (const int32_t token : tokens) {
    check(token >= 0 && token < vocab_size(), "decode: token {} is outside of 0 … {}", token,
          vocab_size() - 1);
    decode_one(token, text);
  }
  return text;
}

size_t CharacterSet::add(const TextPart& part) {
  seen_.resize(character_count / 64);
  const std::string_view text = whole_characters(part);
  for_each_character(text, [&](const Character& character, size_t) {
    seen_[character.number / 64] |= uint64_t{1} << character.number % 64;
  });
  return text.size();
}

std::vector<uint32_t> CharacterSet::characters() const {
  std::vector<uint32_t> numbers;
  for (uint32_t i = 0; i < seen_.size(); ++i)
    for (uint64_t left = seen_[i]; left != 0; left &= left - 1)
      numbers.push_back(64 * i + static_cast<uint32_t>(std::countr_zero(left)));
  return numbers;
}

CharTokenizer::CharTokenizer(std::string_view text) {
  check(!text.empty(), "char tokenizer: wanted a text to take the characters from, got an empty one");
  CharacterSet distinct;
  distinct.add({text});
  characters_ = distinct.characters();
}

CharTokenizer::CharTokenizer(std::vector<uint32_t> characters) : characters_(std::move(characters)) {
  check(!characters_.empty(), "char tokenizer: wanted at least one character");
  for (size_t i = 0; i < characters_.size(); ++i) {
    check(characters_[i] < character_count && (characters_[i] < 0xD800 || characters_[i] > 0xDFFF),
          "char tokenizer: {} is the number of no character", characters_[i]);
    check(i == 0 || characters_[i - 1] < characters_[i],
          "char tokenizer: wanted the characters in order, each once, got {} after {}", characters_[i],
          characters_[i - (i > 0)]);
  }
}

size_t CharTokenizer::encode_part(const TextPart& part, std::vector<int32_t>& tokens) const {
  const std::string_view text = whole_characters(part);
  tokens.reserve(tokens.size() + text.size());
  for_each_character(text, [&](const Character& character, size_t offset) {
    const auto found = std::lower_bound(characters_.begin(), characters_.end(), character.number);
    if (found == characters_.end() || *found != character.number)
      throw_error(
          fmt::format("encode: {} at byte {} is none of the {} characters of the tokenizer's text; leave it "
                      "out or use the byte tokenizer",
                      name_of_character(character.number), part.offset + offset, characters_.size()));
    tokens.push_back(static_cast<int32_t>(found - characters_.begin()));
  });
  return text.size();
}

void CharTokenizer::decode_one(int32_t token, std::string& text) const {
  append_character(text, characters_[token]);
}

size_t ByteTokenizer::encode_part(const TextPart& part, std::vector<int32_t>& tokens) const {
  for (const char c : part.text) tokens.push_back(static_cast<unsigned char>(c));
  return part.text.size();
}

std::unique_ptr<Tokenizer> make_tokenizer(std::string_view kind, std::string_view text) {
  if (kind.ends_with(".json")) return read_tokenizer(std::string(kind));
  check(kind == "char" || kind == "byte", "tokenizer: wanted char, byte or a .json file, got {}", kind);
  if (kind == "char") return std::make_unique<CharTokenizer>(text);
  return std::make_unique<ByteTokenizer>();
}

// --- JSON texts: {"type": "byte"}, and {"type": "char", "characters": […]} with the numbers of utf8.h

std::string ByteTokenizer::to_json() const { return Json{{"type", "byte"}}.dump() + "\n"; }

std::string CharTokenizer::to_json() const {
  return Json{{"type", "char"}, {"characters", characters_}}.dump() + "\n";
}

std::unique_ptr<Tokenizer> tokenizer_from_json(std::string_view text, const std::string& name) {
  const Json file = parse_json<Json>(text);
  check(file.is_object(), "tokenizer: {}: wanted the JSON text of a tokenizer, such as a tokenizer.json",
        name);
  if (!file.contains("type")) {
    if (std::unique_ptr<Tokenizer> simple = without_merges(text)) return simple;
    return std::make_unique<BpeTokenizer>(BpeTokenizer::from_json(text, name));
  }
  if (file == Json{{"type", "byte"}}) return std::make_unique<ByteTokenizer>();
  const bool is_char = file["type"] == "char" && file.size() == 2 && file.contains("characters") &&
                       file["characters"].is_array();
  check(is_char, "tokenizer: {}: wanted type byte, type char with its characters, or a tokenizer.json", name);
  std::vector<uint32_t> characters;
  for (const Json& number : file["characters"]) {
    check(number.is_number_unsigned() && number < character_count,
          "tokenizer: {}: wanted the numbers of characters, got {}", name, one_line(number.dump()));
    characters.push_back(number);
  }
  try {
    return std::make_unique<CharTokenizer>(std::move(characters));
  } catch (const Error& error) {
    throw_error(fmt::format("tokenizer: {}: {}", name, error.what()));
  }
}

std::unique_ptr<Tokenizer> read_tokenizer(const std::string& path) {
  constexpr size_t limit = size_t{1} << 28;  // far larger than any vocabulary
  return tokenizer_from_json(read_file(path, limit), path);
}

}  // namespace isobar
