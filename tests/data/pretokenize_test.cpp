// The split into words against GPT-2's pattern as Debian's python3-regex runs it (fixtures/gpt2_split.py).
#include "../../data/bpe.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "../../data/tokenizer.h"

namespace isobar::pretokenize_test {

using Json = nlohmann::json;
using Words = std::vector<std::string>;

const Json& fixture() {
  static const Json file = Json::parse(std::ifstream(ISOBAR_SOURCE_DIR "/tests/fixtures/gpt2_split.json"));
  return file;
}

Words split(std::string_view text) {
  const std::vector<std::string_view> words = split_words(text);
  return {words.begin(), words.end()};
}

std::string joined(const Words& words) {
  std::string text;
  for (const std::string& word : words) text += word;
  return text;
}

// The words when the text comes in pieces of these lengths, over and over.
Words split_in_pieces(std::string_view text, const std::vector<size_t>& lengths) {
  Words words;
  TextFeed feed;
  for (size_t begin = 0, i = 0; begin <= text.size(); begin += lengths[i++ % lengths.size()]) {
    const size_t length = lengths[i % lengths.size()];
    feed.add(text.substr(begin, length), begin + length > text.size(), [&](const TextPart& part) {
      return for_each_word(part.text, part.last, [&](std::string_view word) { words.emplace_back(word); });
    });
  }
  return words;
}

// The fixture's random texts, by the generator of its script.
std::vector<std::string> random_texts() {
  const Words alphabet = fixture()["alphabet"];
  uint64_t state = 1;
  const auto draw = [&] { return (state = state * 6364136223846793005 + 1442695040888963407) >> 33; };
  std::vector<std::string> texts(10000);
  for (std::string& text : texts)
    for (uint64_t left = 1 + draw() % 16; left > 0; --left) text += alphabet[draw() % alphabet.size()];
  return texts;
}

// Lengths of words in characters, base 36, as the fixture has them.
std::string lengths_of(const Words& words) {
  std::string lengths;
  for (const std::string& word : words) {
    const auto starts =
        std::count_if(word.begin(), word.end(), [](unsigned char c) { return (c & 0xC0) != 0x80; });
    lengths += "0123456789abcdefghijklmnopqrstuvwxyz"[starts];
  }
  return lengths;
}

// Whether all characters are of this class, with the fixture's letters for classes: letters are one word with
// a letter after them, and so on.
bool are_of(char name, const std::string& characters) {
  const auto join = [&](const char* neighbour) { return split_words(characters + neighbour).size() == 1; };
  if (name == 's') return !join("a") && !join("1") && !join("!");
  return join(name == 'L' ? "a" : name == 'N' ? "1" : "!");
}

TEST_CASE("hand-picked texts are split as GPT-2's pattern splits them") {
  CHECK(fixture()["picked"].size() >= 200);
  for (const Words& words : fixture()["picked"].get<std::vector<Words>>()) {
    CAPTURE(joined(words));
    CHECK(split(joined(words)) == words);
  }
}

TEST_CASE("random texts are split as GPT-2's pattern splits them") {
  const std::vector<std::string> texts = random_texts();
  std::string wanted;
  for (const std::string& line : fixture()["random"].get<Words>()) wanted += line + " ";
  std::istringstream lengths(wanted);
  size_t wrong = 0;
  for (size_t i = 0; i < texts.size(); ++i) {
    std::string expected;
    lengths >> expected;
    REQUIRE(!expected.empty());
    const std::string lengths_here = lengths_of(split(texts[i]));
    if (lengths_here == expected || ++wrong > 3) continue;  // the first few are enough to see
    FAIL_CHECK("text ", i, ": ", texts[i], ": ", lengths_here, " instead of ", expected);
  }
  CHECK(wrong == 0);
}

TEST_CASE("every character has the class that python3-regex gives it") {
  const Json& ranges = fixture()["classes"];
  size_t wrong = 0;
  for (size_t i = 0; i < ranges.size(); ++i) {
    const uint32_t end = i + 1 < ranges.size() ? ranges[i + 1][0].get<uint32_t>() : 0x110000;
    const char wanted = ranges[i][1].get<std::string>()[0];
    const uint32_t step = wanted == 's' ? 1 : 256;
    for (uint32_t begin = ranges[i][0]; begin < end; begin += step) {
      std::string characters;
      for (uint32_t point = begin; point < std::min(begin + step, end); ++point)
        if (point != ' ' && (point < 0xD800 || point >= 0xE000))  // a blank joins all; no characters
          append_character(characters, point);
      if (characters.empty() || are_of(wanted, characters) || ++wrong > 3) continue;
      FAIL_CHECK("U+", begin, " and those after it are not all ", wanted);
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("stray bytes are neither letters, numbers nor white space") {
  CHECK(split("a\xFF z") == Words{"a", "\xFF", " z"});
  CHECK(split("\xE2\x82!\xF0\x9F") == Words{"\xE2\x82!\xF0\x9F"});
  CHECK(split(" \xC2\xA0\xC2") == Words{" ", "\xC2\xA0", "\xC2"});  // a no-break space and half of one
  CHECK(split("\xED\xA0\x80 1") == Words{"\xED\xA0\x80", " 1"});    // a surrogate
  CHECK(split("").empty());
}

TEST_CASE("a text that comes in pieces has the words of the whole") {
  std::string text = "It's  we'll\t\n x";
  for (const std::string& one : random_texts()) {
    text += one;
    if (text.size() > 6000) break;
  }
  text += "\xE2\x82";  // half a euro at the end
  const Words whole = split(text);
  CHECK(joined(whole) == text);
  for (const std::vector<size_t>& lengths :
       std::vector<std::vector<size_t>>{{1}, {2}, {3}, {1, 2, 5}, {7, 1}, {64}, {1000, 1, 3}}) {
    CAPTURE(lengths.front());
    CHECK(split_in_pieces(text, lengths) == whole);
  }
}

TEST_CASE("a word that would be too long is cut between characters") {
  const std::string spaces(longest_word + 5, ' ');
  CHECK(split(spaces) == Words{spaces.substr(5), "     "});
  CHECK(split(spaces + "a") == Words{spaces.substr(5), "    ", " a"});
  std::string letters = " ";
  for (size_t i = 0; i < longest_word; ++i) letters += "é";
  const Words words = split(letters);
  REQUIRE(words.size() == 3);
  CHECK(words[0].size() == longest_word - 1);  // a blank, and characters of two bytes
  CHECK(words[1].size() == longest_word);
  CHECK(joined(words) == letters);
  CHECK(split_in_pieces(letters, {1000}) == words);
  CHECK(split_in_pieces(spaces + "a", {4099}) == split(spaces + "a"));
}

}  // namespace isobar::pretokenize_test
