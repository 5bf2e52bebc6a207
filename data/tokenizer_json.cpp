// The JSON texts of the other tokenizers: {"type": "byte"}, and {"type": "char", "characters": […]} with the
// numbers of utf8.h.
#include <nlohmann/json.hpp>

#include "bpe.h"
#include "file.h"
#include "json_text.h"
#include "utf8.h"
#include "utf8_stream.h"

namespace isobar {

using Json = nlohmann::json;

std::string ByteTokenizer::to_json() const { return Json{{"type", "byte"}}.dump() + "\n"; }

std::string CharTokenizer::to_json() const {
  return Json{{"type", "char"}, {"characters", characters_}}.dump() + "\n";
}

std::unique_ptr<Tokenizer> tokenizer_from_json(std::string_view text, const std::string& name) {
  const Json file = parse_json<Json>(text);
  check(file.is_object(), "tokenizer: {}: wanted the JSON text of a tokenizer, such as a tokenizer.json",
        name);
  if (!file.contains("type")) return std::make_unique<BpeTokenizer>(BpeTokenizer::from_json(text, name));
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
