// Byte-level BPE: what it learns and how it encodes, against plain Python (fixtures/bpe_literals.py).
#include "../../data/bpe.h"

#include <doctest/doctest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "../../core/rng.h"
#include "../message_of.h"
#include "../replay.h"

namespace isobar::bpe_test {

using Json = nlohmann::json;
using Tokens = std::vector<int32_t>;

const Json& fixture() {
  static const Json file = Json::parse(std::ifstream(ISOBAR_SOURCE_DIR "/tests/fixtures/bpe_literals.json"));
  return file;
}

BpeTokenizer trained_on(std::string_view text, int64_t vocab_size,
                        std::vector<std::string> specials = {"<|endoftext|>"}) {
  WordCounts counts;
  counts.add({text});
  return train_bpe(counts, {.vocab_size = vocab_size, .specials = std::move(specials)});
}

const BpeTokenizer& of_fixture() {
  static const BpeTokenizer tokenizer =
      trained_on(fixture()["text"].get_ref<const std::string&>(), fixture()["vocab_size"]);
  return tokenizer;
}

// Bytes that often are, or nearly are, words and characters of the fixture.
std::string random_bytes(uint64_t seed) {
  static const std::string& text = fixture()["text"].get_ref<const std::string&>();
  const Rng rng(seed);
  std::string bytes(rng.below(24, 0), '\0');
  uint64_t from = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    const uint64_t draw = rng.bits(i + 1);
    from = draw % 4 == 0 ? draw / 64 % text.size() : (from + 1) % text.size();
    bytes[i] = draw / 4 % 8 == 0 ? static_cast<char>(draw >> 32) : text[from];
  }
  return bytes;
}

TEST_CASE("BPE learns the merges that counting every pair anew gives") {
  const auto wanted = fixture()["merges"].get<std::vector<BpeTokenizer::Pair>>();
  CHECK(of_fixture().merges() == wanted);
  CHECK(of_fixture().vocab_size() == fixture()["vocab_size"]);
}

TEST_CASE("BPE encodes as merge after merge over each word does") {
  for (const Json& sample : fixture()["samples"]) {
    const std::string text = sample["text"];
    CAPTURE(text);
    CHECK(of_fixture().encode(text) == sample["tokens"].get<Tokens>());
  }
}

TEST_CASE("BPE gives back 20,000 random byte strings") {
  size_t merged = 0;
  const std::optional<uint64_t> only = replayed_seed();
  for (uint64_t seed = only.value_or(0), end = only ? seed + 1 : 20'000; seed < end; ++seed) {
    const std::string bytes = random_bytes(seed);
    const Tokens tokens = of_fixture().encode(bytes);
    merged += bytes.size() - tokens.size();
    if (of_fixture().decode(tokens) != bytes) FAIL_CHECK("REPLAY=", seed);
  }
  if (!only) CHECK(merged > 20'000);  // else there was nothing to undo
}

TEST_CASE("BPE counts a text in pieces as the whole") {
  const std::string& text = fixture()["text"].get_ref<const std::string&>();
  WordCounts counts;
  TextFeed feed;
  for (size_t begin = 0; begin < text.size(); begin += 5)
    feed.add(std::string_view(text).substr(begin, 5), begin + 5 >= text.size(),
             [&](const TextPart& part) { return counts.add(part); });
  CHECK(train_bpe(counts, {.vocab_size = 461}).merges() == of_fixture().merges());
}

TEST_CASE("BPE never makes a special token of a text, but knows its own") {
  const BpeTokenizer& tokenizer = of_fixture();
  const int32_t special = static_cast<int32_t>(tokenizer.vocab_size()) - 1;
  const Tokens spelled = tokenizer.encode("<|endoftext|>");
  CHECK(std::find(spelled.begin(), spelled.end(), special) == spelled.end());
  CHECK(tokenizer.decode(spelled) == "<|endoftext|>");
  CHECK(tokenizer.separator() == Tokens{special});
  CHECK(tokenizer.decode(tokenizer.separator()) == "<|endoftext|>");
  const BpeTokenizer without = trained_on("to be", 258, {});
  CHECK(without.separator() == without.encode("\n"));
}

TEST_CASE("BPE encodes a word of the longest kind in little time") {
  const std::string text(1 << 17, 'a');  // quadratic time would be minutes
  const Tokens tokens = of_fixture().encode(text);
  CHECK(of_fixture().decode(tokens) == text);
  CHECK(tokens.size() < text.size() / 4);
}

TEST_CASE("BPE training refuses a vocabulary that bytes or text do not allow") {
  CHECK(message_of([] { trained_on("to be", 256); }) ==
        "bpe: wanted a vocabulary of at least 257 (256 bytes, 1 special tokens), got 256");
  // t+o, then be, then _be: each of the two words is a token, and no pair is left.
  CHECK(message_of([] { trained_on("to be", 300); }) ==
        "bpe: wanted a vocabulary of 300, but the text has pairs for 260 only; take a vocabulary of at most "
        "260 or a longer text");
  CHECK(trained_on("to be", 260).encode("to be").size() == 2);
  CHECK(message_of([] { of_fixture().decode(Tokens{461}); }) == "decode: token 461 is outside of 0 … 460");
}

TEST_CASE("BPE built from parts refuses those that do not fit") {
  using Pairs = std::vector<BpeTokenizer::Pair>;
  const std::vector<std::string> bytes = byte_vocabulary();
  const auto with = [&](std::vector<std::string> more, const Pairs& merges, const Tokens& specials) {
    std::vector<std::string> tokens = bytes;
    tokens.insert(tokens.end(), more.begin(), more.end());
    return message_of([&] { BpeTokenizer(tokens, merges, specials); });
  };
  const int32_t a = 'a' - '!', b = 'b' - '!';
  REQUIRE(bytes[a] == "a");
  CHECK(with({"ab"}, {{a, b}}, {}) == "");
  CHECK(with({"ab"}, {{a, a}}, {}) == "bpe: merge 0 of tokens 64 and 64 makes no token of the vocabulary");
  CHECK(with({"ab"}, {{a, 999}}, {}) == "bpe: merge 0 is of tokens 64 and 999, outside of 0 … 256");
  CHECK(with({"ab", "ab"}, {{a, b}}, {}) == "bpe: tokens 257 and another are the same bytes");
  CHECK(with({""}, {}, {256}) == "bpe: special token 256 is empty or comes twice");
  CHECK(with({"x"}, {}, {999}) == "bpe: special token 999 is outside of 0 … 256");
  const std::vector<std::string> few(bytes.begin() + 1, bytes.end());
  CHECK(message_of([&] { BpeTokenizer(few, {}, {}); }) ==
        "bpe: byte 0x21 has no token; wanted one for each of the 256");
}

}  // namespace isobar::bpe_test
