// Tokenizers as JSON: Hugging Face's tokenizer.json, and the files that must not be taken for one.
#include <doctest/doctest.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "../core/rng.h"
#include "../data/bpe_train.h"
#include "holds.h"
#include "message_of.h"

namespace isobar::tokenizer_json_test {

using Json = nlohmann::json;

const std::string text = "the cat sat on the mat, the cat's hat; schöne Grüße ☃ 2024 2025\n\n  end";

BpeTokenizer small() {
  WordCounts counts;
  counts.add({text});
  return train_bpe(counts, {.vocab_size = 290});
}

// A tokenizer.json as we write it, changed by `change`.
Json file_with(const std::function<void(Json&)>& change) {
  Json file = Json::parse(small().to_json());
  change(file);
  return file;
}

std::string refusal(const Json& file) {
  return message_of([&] { tokenizer_from_json(file.dump(), "x.json"); });
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

TEST_CASE("the forms that a tokenizer.json has had are all read") {
  const std::string same = small().to_json();
  const auto reads = [&](const std::function<void(Json&)>& change) {
    return tokenizer_from_json(file_with(change).dump(), "x.json")->to_json() == same;
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
  struct Case {
    std::function<void(Json&)> change;
    std::string part;
  };
  // One row a line reads best: the formatter would spread each over four.
  // clang-format off
  const std::vector<Case> cases = {
      {[](Json& f) { f["model"]["type"] = "WordPiece"; }, "wanted model BPE, got WordPiece"},
      {[](Json& f) { f["model"] = {{"type", "Unigram"}, {"vocab", Json::array()}}; }, "got Unigram"},
      {[](Json& f) { f["pre_tokenizer"] = nullptr; }, "the file has no object 'pre_tokenizer'"},
      {[](Json& f) { f["pre_tokenizer"]["type"] = "Metaspace"; },
       "wanted pre_tokenizer ByteLevel, got Metaspace"},
      {[](Json& f) { f["pre_tokenizer"] = {{"type", "Sequence"}, {"pretokenizers", Json::array()}}; },
       "wanted pre_tokenizer ByteLevel, got Sequence"},
      {[](Json& f) { f["pre_tokenizer"]["use_regex"] = false; }, "use_regex false, which is not supported"},
      {[](Json& f) { f["pre_tokenizer"]["add_prefix_space"] = true; }, "add_prefix_space true"},
      {[](Json& f) { f["pre_tokenizer"].erase("add_prefix_space"); }, "has no add_prefix_space"},
      {[](Json& f) { f["normalizer"] = {{"type", "NFC"}}; }, "wanted no normalizer, got NFC"},
      {[](Json& f) { f["post_processor"] = {{"type", "TemplateProcessing"}}; }, "got TemplateProcessing"},
      {[](Json& f) { f["decoder"] = {{"type", "WordPiece"}}; },
       "wanted decoder ByteLevel or none, got WordPiece"},
      {[](Json& f) { f["truncation"] = {{"max_length", 512}}; }, "wanted no truncation"},
      {[](Json& f) { f["padding"] = {{"strategy", "BatchLongest"}}; }, "wanted no padding"},
      {[](Json& f) { f["version"] = "2.0"; }, "the file has version \"2.0\""},
      {[](Json& f) { f["more"] = 1; }, "unknown option 'more'"},
      {[](Json& f) { f["model"]["more"] = 1; }, "model BPE has an unknown option 'more'"},
      {[](Json& f) { f["model"]["dropout"] = 0.1; }, "dropout 0.1"},
      {[](Json& f) { f["model"]["byte_fallback"] = true; }, "byte_fallback true"},
      {[](Json& f) { f["model"]["ignore_merges"] = true; }, "ignore_merges true"},
      {[](Json& f) { f["model"]["end_of_word_suffix"] = "</w>"; }, "end_of_word_suffix \"</w>\""},
      {[](Json& f) { f["model"].erase("vocab"); }, "model BPE has no object 'vocab'"},
      {[](Json& f) { f["model"]["vocab"] = Json::array(); }, "model BPE has no object 'vocab'"},
      {[](Json& f) { f["model"]["merges"] = "a b"; }, "model BPE has no array 'merges'"},
      {[](Json& f) { f["added_tokens"][0]["special"] = false; },
       "added token '<|endoftext|>' is not special"},
      {[](Json& f) { f["added_tokens"][0]["id"] = 3; }, "token 3 is '$' in the vocabulary"},
      {[](Json& f) { f["added_tokens"][0]["id"] = -1; }, "an added token has no number 'id'"},
      {[](Json& f) { f["added_tokens"][0]["content"] = 5; }, "an added token has no string 'content'"},
      {[](Json& f) { f["added_tokens"].push_back(f["added_tokens"][0]); }, "has the id of another"},
      {[](Json& f) { f["added_tokens"] = 7; }, "the file has no array 'added_tokens'"},
      {[](Json& f) { f["model"]["vocab"]["at"] = 5000000000; },
       "token 'at' has id 5000000000; wanted the ids 0"},
      {[](Json& f) { f["model"]["vocab"]["at"] = 7; }, "has id 7; wanted the ids 0 … 289, each once"},
      {[](Json& f) { f["model"]["vocab"]["at"] = "7"; }, "token 'at' has id \"7\"; wanted a number"},
      {[](Json& f) { f["model"]["vocab"]["at"] = 1.5; }, "token 'at' has id 1.5; wanted a number"},
      {[](Json& f) { f["model"]["vocab"]["中"] = 290; }, "token '中' holds U+4E2D, which stands for no byte"},
      {[](Json& f) { f["model"]["vocab"]["zzz"] = 290; }, "token 290 is neither a byte nor made by a merge"},
      {[](Json& f) { f["model"]["vocab"].erase("!"); }, "wanted the ids 0 … 288, each once"},
      {[](Json& f) { f["model"]["merges"].erase(0); }, "is neither a byte nor made by a merge nor special"},
      {[](Json& f) { f["model"]["merges"].push_back("a t"); }, "comes twice"},
      {[](Json& f) { f["model"]["merges"][0] = "at"; }, "merge 0 is 'at'; wanted two tokens and a space"},
      {[](Json& f) { f["model"]["merges"][0] = "a t t"; }, "merge 0 is 'a t t'; wanted two tokens"},
      {[](Json& f) { f["model"]["merges"][0] = {"a", "t", "t"}; }, "merge 0 is neither \"a b\" nor"},
      {[](Json& f) { f["model"]["merges"][0] = "a zz"; }, "merge 0 is of 'zz', which is no token"},
      {[](Json& f) { f["model"]["merges"][0] = "a <|endoftext|>"; }, "merge 0 is of '<|endoftext|>'"},
  };
  // clang-format on
  for (const Case& one : cases) {
    const std::string message = refusal(file_with(one.change));
    INFO(message);
    CHECK(message.starts_with("tokenizer: x.json: "));
    CHECK_MESSAGE(holds(message, one.part), one.part);
    CHECK(message.find('\n') == std::string::npos);
  }
}

TEST_CASE("a text that is no tokenizer at all is refused") {
  for (const std::string& bad : std::vector<std::string>{"",
                                                         "{",
                                                         "[]",
                                                         "null",
                                                         "7",
                                                         "\"a\"",
                                                         "not json",
                                                         std::string(100000, '['),
                                                         "{}",
                                                         R"({"type": "word"})",
                                                         R"({"type": "char"})",
                                                         R"({"type": "char", "characters": 5})",
                                                         R"({"type": "char", "characters": []})",
                                                         R"({"type": "char", "characters": [-1]})",
                                                         R"({"type": "char", "characters": [98, 97]})",
                                                         R"({"type": "char", "characters": [97, 97]})",
                                                         R"({"type": "char", "characters": [1114368]})",
                                                         R"({"type": "char", "characters": [55296]})",
                                                         R"({"type": "char", "characters": [97], "more": 1})",
                                                         R"({"type": "byte", "more": 1})",
                                                         R"({"type": 3})"}) {
    CAPTURE(bad.substr(0, 60));
    const std::string message = message_of([&] { tokenizer_from_json(bad, "x.json"); });
    CHECK(message.starts_with("tokenizer: x.json: "));
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
  for (uint64_t i = 0; i < 1000; ++i) {
    std::string flipped = whole;
    const uint64_t at = rng.below(whole.size(), i), bit = rng.below(8, 1000 + i);
    flipped[at] = static_cast<char>(flipped[at] ^ 1 << bit);
    const std::string verdict = outcome(flipped);
    refused += verdict == "refused";
    INFO("byte ", at, ", bit ", bit, ": ", verdict);
    CHECK((verdict == "same" || verdict == "refused"));
  }
  CHECK(refused > 700);
  for (uint64_t i = 0; i < 100; ++i) {
    const size_t length = rng.below(whole.size() - 2, 5000 + i);
    CAPTURE(length);
    CHECK(outcome(whole.substr(0, length)) == "refused");
  }
}

}  // namespace isobar::tokenizer_json_test
