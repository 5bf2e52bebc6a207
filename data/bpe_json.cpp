// Hugging Face's tokenizer.json. Read are model BPE over bytes, with GPT-2's split, and what we write of tokenizers of
// characters and of bytes: BPE without merges, where each character of a text is a token. A token's
// bytes are written as characters by GPT-2's table (bytes_to_unicode in its src/encoder.py): printable bytes
// as themselves, the others as U+0100 and up.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "bpe.h"
#include "json_text.h"
#include "utf8.h"
#include "utf8_stream.h"

namespace isobar {
namespace {

using Json = nlohmann::json;

struct ByteTable {
  std::array<uint32_t, 256> character;      // of each byte
  std::unordered_map<uint32_t, char> byte;  // the inverse

  ByteTable() {
    uint32_t next = 0x100;
    for (uint32_t b = 0; b < 256; ++b) {
      const bool printable = (b >= 0x21 && b <= 0x7E) || (b >= 0xA1 && b != 0xAD);
      character[b] = printable ? b : next++;
      byte[character[b]] = static_cast<char>(b);
    }
  }
};

const ByteTable& byte_table() {
  static const ByteTable table;
  return table;
}

std::string written(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) append_character(text, byte_table().character[static_cast<unsigned char>(c)]);
  return text;
}

// The bytes of a token, from its text in the file.
std::string bytes_of(std::string_view text) {
  std::string bytes;
  for_each_character(text, [&](const Character& character, size_t) {
    const auto found = byte_table().byte.find(character.number);
    check(found != byte_table().byte.end(), "token '{}' holds U+{:04X}, which stands for no byte",
          Shown{text}, character.number);
    bytes.push_back(found->second);
  });
  return bytes;
}

// The name of a part of the file, for errors: its "type", or its JSON.
std::string name_of(const Json& part) {
  if (part.is_object() && part.contains("type") && part["type"].is_string())
    return one_line(part["type"].get_ref<const std::string&>());
  return part.dump(-1, ' ', false, Json::error_handler_t::replace).substr(0, 40);
}

const Json& member(const Json& object, const char* key, Json::value_t type, std::string_view where) {
  check(object.is_object() && object.contains(key) && object[key].type() == type, "{} has no {} '{}'", where,
        Json(type).type_name(), key);
  return object[key];
}

// Checks that every option of an object is known, and is null or one of the values that are known of it: none
// are listed where any will do.
void check_options(const Json& object, const std::string& where, const Json& known) {
  for (const auto& [key, value] : object.items()) {
    check(known.contains(key), "{} has an unknown option '{}'", where, Shown{key});
    const Json& values = known[key];
    const bool fits =
        value.is_null() || values.empty() || std::find(values.begin(), values.end(), value) != values.end();
    check(fits, "{} has {} {}, which is not supported", where, Shown{key}, name_of(value));
  }
}

// A part of the file; null if it is missing.
const Json& part_of(const Json& file, const char* part) {
  static const Json null;
  return file.contains(part) ? file[part] : null;
}

// Checks everything outside of the model that would change tokens or text.
void check_surroundings(const Json& file) {
  check_options(file, "the file", R"({"version": ["1.0"], "truncation": [], "padding": [], "added_tokens": [],
      "normalizer": [], "pre_tokenizer": [], "post_processor": [], "decoder": [], "model": []})"_json);
  for (const char* part : {"truncation", "padding", "normalizer"})
    check(part_of(file, part).is_null(), "wanted no {}, got {}", part, name_of(part_of(file, part)));
  const Json& split = member(file, "pre_tokenizer", Json::value_t::object, "the file");
  check(name_of(split) == "ByteLevel", "wanted pre_tokenizer ByteLevel, got {}", name_of(split));
  check_options(split, "pre_tokenizer ByteLevel",
                R"({"type": [], "add_prefix_space": [false], "trim_offsets": [], "use_regex": [true]})"_json);
  check(split.contains("add_prefix_space"), "pre_tokenizer ByteLevel has no add_prefix_space; wanted false");
  for (const char* part : {"post_processor", "decoder"}) {
    const Json& value = part_of(file, part);
    check(value.is_null() || name_of(value) == "ByteLevel", "wanted {} ByteLevel or none, got {}", part,
          name_of(value));
  }
}

const Json& checked_model(const Json& file) {
  const Json& model = member(file, "model", Json::value_t::object, "the file");
  // Early versions of the format have no type.
  check(!model.contains("type") || name_of(model) == "BPE", "wanted model BPE, got {}", name_of(model));
  check_options(model, "model BPE",
                R"({"type": [], "vocab": [], "merges": [], "dropout": [0.0], "unk_token": [],
      "continuing_subword_prefix": [""], "end_of_word_suffix": [""], "fuse_unk": [],
      "byte_fallback": [false], "ignore_merges": [false]})"_json);
  return model;
}

// The texts of the special tokens, by id.
std::unordered_map<int64_t, std::string> special_tokens(const Json& file) {
  std::unordered_map<int64_t, std::string> specials;
  if (!file.contains("added_tokens")) return specials;
  for (const Json& added : member(file, "added_tokens", Json::value_t::array, "the file")) {
    const std::string text = member(added, "content", Json::value_t::string, "an added token");
    check(member(added, "special", Json::value_t::boolean, "an added token") == true,
          "added token '{}' is not special; ordinary text would be split at it, which is not supported",
          Shown{text});
    check(
        specials.emplace(member(added, "id", Json::value_t::number_unsigned, "an added token"), text).second,
        "added token '{}' has the id of another", Shown{text});
  }
  return specials;
}

// The two texts of a merge, written "a b", or since 2024 ["a", "b"].
std::pair<std::string, std::string> merge_texts(const Json& merge, size_t rank) {
  if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string())
    return {merge[0], merge[1]};
  check(merge.is_string(), "merge {} is neither \"a b\" nor [\"a\", \"b\"]", rank);
  const std::string& text = merge.get_ref<const std::string&>();
  const size_t space = text.find(' ');
  check(space != std::string::npos && text.find(' ', space + 1) == std::string::npos,
        "merge {} is '{}'; wanted two tokens and a space", rank, Shown{text});
  return {text.substr(0, space), text.substr(space + 1)};
}

BpeTokenizer from_file(const Json& file) {
  check(file.is_object(), "wanted an object");
  check_surroundings(file);
  const Json& model = checked_model(file);
  const std::unordered_map<int64_t, std::string> special_texts = special_tokens(file);
  const Json& vocabulary = member(model, "vocab", Json::value_t::object, "model BPE");

  size_t count = vocabulary.size();
  for (const auto& [id, text] : special_texts) count += vocabulary.contains(text) ? 0 : 1;
  std::vector<std::string> tokens(count);
  std::vector<bool> taken(count);
  const auto place = [&](int64_t id, const std::string& text, std::string bytes) {
    check(id >= 0 && static_cast<size_t>(id) < count && !taken[id],
          "token '{}' has id {}; wanted the ids 0 … {}, each once", Shown{text}, id, count - 1);
    taken[id] = true;
    tokens[id] = std::move(bytes);
  };
  for (const auto& [text, id] : vocabulary.items()) {
    if (!id.is_number_unsigned())
      throw_error(fmt::format("token '{}' has id {}; wanted a number from 0", one_line(text), name_of(id)));
    const auto special = special_texts.find(id.get<int64_t>());
    check(special == special_texts.end() || special->second == text,
          "token {} is '{}' in the vocabulary and another among the added tokens", id.get<int64_t>(),
          Shown{text});
    place(id, text, special != special_texts.end() ? text : bytes_of(text));
  }
  std::vector<int32_t> specials;
  for (const auto& [id, text] : special_texts) {
    if (!vocabulary.contains(text)) place(id, text, text);
    specials.push_back(static_cast<int32_t>(id));
  }
  std::sort(specials.begin(), specials.end());

  std::vector<BpeTokenizer::Pair> merges;
  for (const Json& merge : member(model, "merges", Json::value_t::array, "model BPE")) {
    const auto [left, right] = merge_texts(merge, merges.size());
    for (const std::string& part : {left, right})
      check(vocabulary.contains(part) && !special_texts.contains(vocabulary[part].get<int64_t>()),
            "merge {} is of '{}', which is no token of the vocabulary", merges.size(), Shown{part});
    merges.emplace_back(vocabulary[left], vocabulary[right]);
  }
  return BpeTokenizer(std::move(tokens), std::move(merges), std::move(specials));
}

// All but the vocabulary, the split and the decoder of what we write.
Json written_file() {
  return R"({"version": "1.0", "truncation": null, "padding": null, "normalizer": null, "post_processor": null,
      "added_tokens": [],
      "model": {"type": "BPE", "dropout": null, "unk_token": null, "continuing_subword_prefix": null,
                "end_of_word_suffix": null, "fuse_unk": false, "byte_fallback": false, "vocab": {}, "merges": []}
  })"_json;
}

// With what tokenizers 0.21 adds when it saves such a file.
Json file_without_merges() {
  Json file = written_file();
  file["model"]["ignore_merges"] = false;
  return file;
}

// How a token of a character is written; a stray byte as in vocabularies with a byte fallback.
std::string written_character(uint32_t number) {
  if (number >= stray_byte) return fmt::format("<0x{:02X}>", number - stray_byte);
  std::string text;
  append_character(text, number);
  return text;
}
uint32_t character_written(const std::string& text) {
  for (uint32_t byte = 0x80; text.size() == 6 && byte <= 0xFF; ++byte)
    if (text == written_character(stray_byte + byte)) return stray_byte + byte;
  return text.empty() ? character_count : first_character(text).number;
}

}  // namespace

std::string ByteTokenizer::to_hugging_face() const {
  Json file = file_without_merges();
  file["pre_tokenizer"] =
      R"({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": false})"_json;
  file["decoder"] = file["pre_tokenizer"];
  for (int byte = 0; byte < 256; ++byte)
    file["model"]["vocab"][written(std::string(1, static_cast<char>(byte)))] = byte;
  return file.dump(1) + "\n";
}

std::string CharTokenizer::to_hugging_face() const {
  Json file = file_without_merges();
  file["pre_tokenizer"] = nullptr;
  // Else tokens would be joined with blanks.
  file["decoder"] = R"({"type": "Sequence", "decoders": [{"type": "ByteFallback"}, {"type": "Fuse"}]})"_json;
  for (size_t id = 0; id < characters_.size(); ++id)
    file["model"]["vocab"][written_character(characters_[id])] = id;
  return file.dump(1) + "\n";
}

std::unique_ptr<Tokenizer> without_merges(std::string_view json) {
  const Json file = parse_json<Json>(json);
  const auto same = [&](const Tokenizer& tokenizer) {
    return file == Json::parse(tokenizer.to_hugging_face());
  };
  if (auto bytes = std::make_unique<ByteTokenizer>(); same(*bytes)) return bytes;
  const Json::json_pointer place("/model/vocab");
  if (!file.is_object() || !file.contains(place) || !file[place].is_object()) return nullptr;
  std::vector<uint32_t> characters;
  for (const auto& [text, id] : file[place].items()) characters.push_back(character_written(text));
  std::sort(characters.begin(), characters.end());
  characters.erase(std::unique(characters.begin(), characters.end()), characters.end());
  if (characters.empty() || characters.back() >= character_count) return nullptr;
  auto tokenizer = std::make_unique<CharTokenizer>(std::move(characters));
  return same(*tokenizer) ? std::move(tokenizer) : nullptr;
}

std::vector<std::string> byte_vocabulary() {
  std::vector<std::string> bytes;
  for (int b = 0; b < 256; ++b) bytes.emplace_back(1, static_cast<char>(b));
  const auto character = [](const std::string& byte) {
    return byte_table().character[static_cast<unsigned char>(byte[0])];
  };
  std::sort(bytes.begin(), bytes.end(),
            [&](const std::string& a, const std::string& b) { return character(a) < character(b); });
  return bytes;
}

BpeTokenizer BpeTokenizer::from_json(std::string_view json, const std::string& name) {
  try {
    return from_file(parse_json_or_throw<Json>(json));
  } catch (const Json::exception& error) {
    throw_error(fmt::format("tokenizer: {}: no JSON text: {}", name, json_complaint(error.what())));
  } catch (const Error& error) {
    throw_error(fmt::format("tokenizer: {}: {}; wanted a byte-level BPE tokenizer.json", name, error.what()));
  }
}

std::string BpeTokenizer::to_json() const {
  Json file = written_file();
  file["pre_tokenizer"] =
      R"({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true})"_json;
  file["decoder"] = file["pre_tokenizer"];
  Json& vocabulary = file["model"]["vocab"];
  std::vector<bool> special(tokens_.size());
  for (const int32_t id : specials_) {
    special[id] = true;
    Json added = R"({"single_word": false, "lstrip": false, "rstrip": false, "normalized": false})"_json;
    added.update({{"id", id}, {"content", tokens_[id]}, {"special", true}});
    file["added_tokens"].push_back(added);
  }
  for (size_t id = 0; id < tokens_.size(); ++id) {
    const std::string text = special[id] ? tokens_[id] : written(tokens_[id]);
    check(!vocabulary.contains(text), "bpe: two tokens are written '{}'; take another special token", text);
    vocabulary[text] = id;
  }
  for (const auto& [left, right] : merges_)
    file["model"]["merges"].push_back(written(tokens_[left]) + ' ' + written(tokens_[right]));
  return file.dump(1) + "\n";
}

}  // namespace isobar
