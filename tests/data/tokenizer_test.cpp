#include "../../data/tokenizer.h"

#include <doctest/doctest.h>

#include "../message_of.h"

namespace isobar::tokenizer_test {

using Tokens = std::vector<int32_t>;

std::string decode(const Tokenizer& tokenizer, const Tokens& tokens) { return tokenizer.decode(tokens); }

TEST_CASE("char tokenizer numbers the distinct characters in order") {
  const CharTokenizer tokenizer("to be or not to be");
  CHECK(tokenizer.vocab_size() == 7);  // space b e n o r t
  CHECK(tokenizer.encode("bet on") == Tokens{1, 2, 6, 0, 4, 3});
  CHECK(decode(tokenizer, {3, 4, 6}) == "not");
  CHECK(tokenizer.encode("").empty());
}

TEST_CASE("char tokenizer gives a character of several bytes one token") {
  const CharTokenizer tokenizer("aß€😀");  // one, two, three and four bytes
  CHECK(tokenizer.vocab_size() == 4);
  CHECK(tokenizer.encode("😀ß€a") == Tokens{3, 1, 2, 0});
  CHECK(decode(tokenizer, {3, 2, 1}) == "😀€ß");
}

TEST_CASE("char tokenizer gives back every byte string that it was built from") {
  const std::string cases[] = {
      "plain",
      std::string("nul \0 inside", 12),
      "caf\xC3\xA9",
      "\xFF\xFE stray bytes \x80\xC3",      // never part of UTF-8; a lone continuation; a cut character
      "\xC0\xAF overlong \xE0\x80\x80",     // RFC 3629: forbidden two- and three-byte forms
      "\xF0\x80\x80\x80 \xF4\x90\x80\x80",  // overlong four-byte form; past U+10FFFF
      "\xED\xA0\x80 surrogate",             // U+D800
      "\xED\x9F\xBF\xEE\x80\x80\xF4\x8F\xBF\xBF\xC2\x80\xE0\xA0\x80\xF0\x90\x80\x80",  // the valid edges
  };
  for (const std::string& text : cases) {
    CAPTURE(text);
    const CharTokenizer tokenizer(text);
    CHECK(tokenizer.decode(tokenizer.encode(text)) == text);
  }
  // Each valid edge is one character; utf8_stream_test.cpp has the forms that are none.
  CHECK(CharTokenizer(cases[7]).encode(cases[7]).size() == 6);
}

TEST_CASE("char tokenizer names the character it has no token for") {
  const CharTokenizer tokenizer("abc");
  const std::string end =
      " is none of the 3 characters of the tokenizer's text; leave it out or use the byte tokenizer";
  const auto message = [&](const char* text) { return message_of([&] { tokenizer.encode(text); }); };
  CHECK(message("abß") == "encode: 'ß' (U+00DF) at byte 2" + end);
  CHECK(message("\n") == "encode: U+000A at byte 0" + end);
  CHECK(message("a\xFF") == "encode: byte 0xFF at byte 1" + end);
  CHECK_THROWS_WITH_AS(CharTokenizer(""),
                       "char tokenizer: wanted a text to take the characters from, got an empty one", Error);
}

TEST_CASE("byte tokenizer takes every byte as it is") {
  std::string text;
  for (int byte = 0; byte < 256; ++byte) text.push_back(static_cast<char>(byte));
  const ByteTokenizer tokenizer;
  const Tokens tokens = tokenizer.encode(text);
  CHECK(tokenizer.vocab_size() == 256);
  CHECK(tokens.front() == 0);
  CHECK(tokens.back() == 255);
  CHECK(tokenizer.decode(tokens) == text);
}

TEST_CASE("tokenizers refuse tokens outside of their vocabulary") {
  CHECK_THROWS_WITH_AS(decode(CharTokenizer("abc"), {0, 3}), "decode: token 3 is outside of 0 … 2", Error);
  CHECK_THROWS_WITH_AS(decode(CharTokenizer("abc"), {-1}), "decode: token -1 is outside of 0 … 2", Error);
  CHECK_THROWS_WITH_AS(decode(ByteTokenizer(), {256}), "decode: token 256 is outside of 0 … 255", Error);
}

TEST_CASE("tokenizers are made by name") {
  CHECK(make_tokenizer("char", "abca")->vocab_size() == 3);
  CHECK(make_tokenizer("byte", "abca")->vocab_size() == 256);
  CHECK_THROWS_WITH_AS(make_tokenizer("word", "abca"),
                       "tokenizer: wanted char, byte or a .json file, got word", Error);
}

}  // namespace isobar::tokenizer_test
