// Tokenizers as JSON: Hugging Face's tokenizer.json, and the files that must not be taken for one.
#include <doctest/doctest.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "../../core/rng.h"
#include "../../data/bpe.h"
#include "../holds.h"
#include "../message_of.h"

namespace isobar::tokenizer_json_test {

using Json = nlohmann::json;

const std::string text = "the cat sat on the mat, the cat's hat; schöne Grüße ☃ 2024 2025\n\n  end";

BpeTokenizer small() {
  WordCounts counts;
  counts.add({text});
  return train_bpe(counts, {.vocab_size = 290});
}

TEST_CASE("a tokenizer comes back from its JSON as it was") {
  const BpeTokenizer bpe = small();
  const CharTokenizer characters("schöne Grüße \xFF");
  const ByteTokenizer bytes;
  for (const Tokenizer* one : std::initializer_list<const Tokenizer*>{&bpe, &characters, &bytes}) {
    const std::unique_ptr<Tokenizer> back = tokenizer_from_json(one->to_json(), "x.json");
    CHECK(back->to_json() == one->to_json());
    CHECK(back->vocab_size() == one->vocab_size());
    CHECK(back->encode("sch\xFFß") == one->encode("sch\xFFß"));
  }
  CHECK(CharTokenizer("b\na\xff").to_json() == "{\"characters\":[10,97,98,1114367],\"type\":\"char\"}\n");
}

TEST_CASE("a tokenizer.json has the layout of Hugging Face") {
  const Json file = Json::parse(small().to_json());
  CHECK(file["model"]["type"] == "BPE");
  CHECK(file["model"]["vocab"]["!"] == 0);
  CHECK(file["model"]["vocab"]["Ġ"] == 220);  // the blank, as in GPT-2's vocabulary
  CHECK(file["model"]["vocab"]["Ċ"] == 198);  // the newline
  CHECK(file["model"]["vocab"]["<|endoftext|>"] == 289);
  CHECK(file["model"]["merges"][0] == "a t");
  CHECK(file["pre_tokenizer"]["type"] == "ByteLevel");
  CHECK(file["added_tokens"][0]["content"] == "<|endoftext|>");
}

TEST_CASE(
    "tokenizers of characters and bytes are BPE without merges in a tokenizer.json, and come back from it") {
  const CharTokenizer characters("schöne\n 😀\xFF\x80");
  const ByteTokenizer bytes;
  for (const Tokenizer* one : std::initializer_list<const Tokenizer*>{&characters, &bytes}) {
    const Json file = Json::parse(one->to_hugging_face());
    CHECK(file["version"] == "1.0");
    CHECK(file["model"]["type"] == "BPE");
    CHECK(file["model"]["merges"] == Json::array());
    CHECK(file["model"]["vocab"].size() == static_cast<size_t>(one->vocab_size()));
    const std::unique_ptr<Tokenizer> back = tokenizer_from_json(one->to_hugging_face(), "x.json");
    CHECK(back->to_json() == one->to_json());
    CHECK(back->kind() == one->kind());
  }
  const Json of_characters = Json::parse(characters.to_hugging_face()),
             of_bytes = Json::parse(bytes.to_hugging_face());
  CHECK(of_characters["model"]["vocab"] == Json{{"\n", 0},
                                                {" ", 1},
                                                {"c", 2},
                                                {"e", 3},
                                                {"h", 4},
                                                {"n", 5},
                                                {"s", 6},
                                                {"ö", 7},
                                                {"😀", 8},
                                                {"<0x80>", 9},
                                                {"<0xFF>", 10}});
  CHECK(of_characters["pre_tokenizer"].is_null());
  CHECK(of_bytes["model"]["vocab"]["Ġ"] == 32);
  CHECK(of_bytes["model"]["vocab"]["!"] == 33);
  CHECK(of_bytes["model"]["vocab"]["Ã"] == 0xC3);
  CHECK(of_bytes["pre_tokenizer"]["use_regex"] == false);
  // What differs from these in anything is no such file.
  Json other = of_characters;
  other["model"]["vocab"]["c"] = 3;
  other["model"]["vocab"]["e"] = 2;
  CHECK_THROWS_AS(tokenizer_from_json(other.dump(), "x.json"), Error);
  other = of_bytes;
  other["decoder"] = nullptr;
  CHECK_THROWS_AS(tokenizer_from_json(other.dump(), "x.json"), Error);
  other = of_characters;
  other["normalizer"] = {{"type", "NFC"}};
  CHECK_THROWS_AS(tokenizer_from_json(other.dump(), "x.json"), Error);
}

TEST_CASE("the forms that a tokenizer.json has had are all read") {
  const std::string same = small().to_json();
  const auto reads = [&](const std::function<void(Json&)>& change) {
    Json file = Json::parse(same);
    change(file);
    return tokenizer_from_json(file.dump(), "x.json")->to_json() == same;
  };
  CHECK(reads([](Json& file) {  // since 0.20
    for (Json& merge : file["model"]["merges"]) {
      const std::string pair = merge;
      const size_t blank = pair.find(' ');
      merge = {pair.substr(0, blank), pair.substr(blank + 1)};
    }
  }));
  CHECK(reads([](Json& file) {  // GPT-2's own
    file["model"].erase("type");
    file["model"]["continuing_subword_prefix"] = file["model"]["end_of_word_suffix"] = "";
    file["post_processor"] = {{"type", "ByteLevel"}, {"add_prefix_space", true}, {"trim_offsets", false}};
    file["pre_tokenizer"].erase("use_regex");
  }));
  CHECK(reads([](Json& file) { file["model"]["vocab"].erase("<|endoftext|>"); }));  // only among the added
  CHECK(reads([](Json& file) { file["model"]["dropout"] = 0.0; }));
}

TEST_CASE("what is not byte-level BPE with GPT-2's split is refused by name") {
  // Where, what is written there ("": it is taken away), and what is said of it.
  const struct {
    const char *place, *value, *part;
  } cases[] = {
      {"/model/type", R"("WordPiece")", "wanted model BPE, got WordPiece"},
      {"/model", R"({"type": "Unigram", "vocab": []})", "got Unigram"},
      {"/pre_tokenizer", "null", "the file has no object 'pre_tokenizer'"},
      {"/pre_tokenizer/type", R"("Metaspace")", "wanted pre_tokenizer ByteLevel, got Metaspace"},
      {"/pre_tokenizer", R"({"type": "Sequence", "pretokenizers": []})",
       "wanted pre_tokenizer ByteLevel, got Sequence"},
      {"/pre_tokenizer/use_regex", "false", "use_regex false, which is not supported"},
      {"/pre_tokenizer/add_prefix_space", "true", "add_prefix_space true"},
      {"/pre_tokenizer/add_prefix_space", "", "has no add_prefix_space"},
      {"/normalizer", R"({"type": "NFC"})", "wanted no normalizer, got NFC"},
      {"/post_processor", R"({"type": "TemplateProcessing"})", "got TemplateProcessing"},
      {"/decoder", R"({"type": "WordPiece"})", "wanted decoder ByteLevel or none, got WordPiece"},
      {"/truncation", R"({"max_length": 512})", "wanted no truncation"},
      {"/padding", R"({"strategy": "BatchLongest"})", "wanted no padding"},
      {"/version", R"("2.0")", R"(the file has version "2.0")"},
      {"/more", "1", "unknown option 'more'"},
      {"/model/more", "1", "model BPE has an unknown option 'more'"},
      {"/model/dropout", "0.1", "dropout 0.1"},
      {"/model/byte_fallback", "true", "byte_fallback true"},
      {"/model/ignore_merges", "true", "ignore_merges true"},
      {"/model/end_of_word_suffix", R"("</w>")", R"(end_of_word_suffix "</w>")"},
      {"/model/vocab", "", "model BPE has no object 'vocab'"},
      {"/model/vocab", "[]", "model BPE has no object 'vocab'"},
      {"/model/merges", R"("a b")", "model BPE has no array 'merges'"},
      {"/added_tokens/0/special", "false", "added token '<|endoftext|>' is not special"},
      {"/added_tokens/0/id", "3", "token 3 is '$' in the vocabulary"},
      {"/added_tokens/0/id", "-1", "an added token has no number 'id'"},
      {"/added_tokens/0/content", "5", "an added token has no string 'content'"},
      {"/added_tokens/-", R"({"id": 289, "content": "<|endoftext|>", "special": true})",
       "has the id of another"},
      {"/added_tokens", "7", "the file has no array 'added_tokens'"},
      {"/model/vocab/at", "5000000000", "token 'at' has id 5000000000; wanted the ids 0"},
      {"/model/vocab/at", "7", "has id 7; wanted the ids 0 … 289, each once"},
      {"/model/vocab/at", R"("7")", R"(token 'at' has id "7"; wanted a number)"},
      {"/model/vocab/at", "1.5", "token 'at' has id 1.5; wanted a number"},
      {"/model/vocab/中", "290", "token '中' holds U+4E2D, which stands for no byte"},
      {"/model/vocab/zzz", "290", "token 290 is neither a byte nor made by a merge"},
      {"/model/vocab/!", "", "wanted the ids 0 … 288, each once"},
      {"/model/merges/0", "", "is neither a byte nor made by a merge nor special"},
      {"/model/merges/-", R"("a t")", "comes twice"},
      {"/model/merges/0", R"("at")", "merge 0 is 'at'; wanted two tokens and a space"},
      {"/model/merges/0", R"("a t t")", "merge 0 is 'a t t'; wanted two tokens"},
      {"/model/merges/0", R"(["a", "t", "t"])", R"(merge 0 is neither "a b" nor)"},
      {"/model/merges/0", R"("a zz")", "merge 0 is of 'zz', which is no token"},
      {"/model/merges/0", R"("a <|endoftext|>")", "merge 0 is of '<|endoftext|>'"},
  };
  for (const auto& one : cases) {
    Json file = Json::parse(small().to_json());
    const Json::json_pointer at(one.place);
    if (*one.value == '\0')
      file = file.patch({{{"op", "remove"}, {"path", one.place}}});
    else
      file[at] = Json::parse(one.value);
    const std::string message = message_of([&] { tokenizer_from_json(file.dump(), "x.json"); });
    CAPTURE(one.place);
    CAPTURE(message);
    CHECK(message.starts_with("tokenizer: x.json: "));
    CHECK(holds(message, one.part));
    CHECK(message.find('\n') == std::string::npos);
  }
}

TEST_CASE("a text that is no tokenizer at all is refused") {
  const std::pair<std::string, const char*> bad_texts[] = {
      {"", "wanted the JSON text of a tokenizer"},
      {"{", "wanted the JSON text of a tokenizer"},
      {"[]", ""},
      {"null", ""},
      {"7", ""},
      {"\"a\"", ""},
      {"not json", "wanted the JSON text of a tokenizer"},
      {std::string(1'000'000, '['), "wanted the JSON text of a tokenizer"},
      {"{}", "the file has no object 'pre_tokenizer'"},
      {R"({"type": "rune"})", "wanted type byte, type char with its characters"},
      {R"({"type": "char"})", "type char with its characters"},
      {R"({"type": "char", "characters": 5})", ""},
      {R"({"type": "char", "characters": []})", "at least one character"},
      {R"({"type": "char", "characters": [-1]})", "wanted the numbers of characters, got -1"},
      {R"({"type": "char", "characters": [1.5]})", "wanted the numbers of characters, got 1.5"},
      {R"({"type": "char", "characters": [98, 97]})", "in order, each once, got 97 after 98"},
      {R"({"type": "char", "characters": [97, 97]})", "in order, each once, got 97 after 97"},
      {R"({"type": "char", "characters": [1114368]})", "the numbers of characters, got 1114368"},
      {R"({"type": "char", "characters": [4000000000]})", "the numbers of characters, got 4000000000"},
      {R"({"type": "char", "characters": [55296]})", ""},
      {R"({"type": "char", "characters": [97], "more": 1})", ""},
      {R"({"type": "byte", "more": 1})", ""},
      {R"({"type": 3})", ""}};
  for (const auto& one : bad_texts) {
    const std::string& bad = one.first;
    CAPTURE(bad.substr(0, 60));
    const std::string message = message_of([&] { tokenizer_from_json(bad, "x.json"); });
    CAPTURE(message);
    CHECK(message.starts_with("tokenizer: x.json: "));
    CHECK(holds(message, one.second));
    CHECK(message.find('\n') == std::string::npos);
  }
}

TEST_CASE("a cut or damaged tokenizer.json is refused or means the same, never another tokenizer") {
  const std::string whole = small().to_json();
  const auto outcome = [&](const std::string& bytes) -> std::string {
    std::string message;
    try {
      if (tokenizer_from_json(bytes, "x.json")->to_json() == whole) return "same";
    } catch (const Error& error) {
      message = error.what();
    }
    return message.starts_with("tokenizer: x.json: ") ? "refused" : "wrong " + message;
  };
  CHECK(outcome(whole) == "same");
  const Rng rng(1);
  size_t refused = 0;
  for (uint64_t i = 0; i < 200; ++i) {
    std::string flipped = whole;
    const uint64_t at = rng.below(whole.size(), i), bit = rng.below(8, 1000 + i);
    flipped[at] = static_cast<char>(flipped[at] ^ 1 << bit);
    const std::string verdict = outcome(flipped);
    refused += verdict == "refused";
    INFO("byte ", at, ", bit ", bit, ": ", verdict);
    CHECK((verdict == "same" || verdict == "refused"));
  }
  CHECK(refused > 140);
  for (uint64_t i = 0; i < 20; ++i) {
    const size_t length = rng.below(whole.size() - 2, 5000 + i);
    CAPTURE(length);
    CHECK(outcome(whole.substr(0, length)) == "refused");
  }
}

}  // namespace isobar::tokenizer_json_test
