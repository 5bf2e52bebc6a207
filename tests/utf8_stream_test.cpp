// Utf8Stream: what reaches the terminal is valid UTF-8, in whatever pieces it comes.
#include "../data/utf8_stream.h"

#include <doctest/doctest.h>

#include <string>

using namespace isobar;

TEST_CASE("printable text keeps UTF-8 and newlines and replaces the rest") {
  CHECK(printable("a\nß漢🙂") == "a\nß漢🙂");
  CHECK(printable("a\x1b[2J\x80z\xff") == "a�[2J�z�");
  CHECK(printable("\xe6\xbc") == "��");
  CHECK(printable(std::string("\0\x7f", 2)) == "��");
}

TEST_CASE("overlong forms, surrogates and code points beyond the last are no characters") {
  CHECK(printable("\xc0\xaf") == "��");
  CHECK(printable("\xe0\x9f\xbf") == "���");
  CHECK(printable("\xe0\xa0\x80") == "\xe0\xa0\x80");
  CHECK(printable("\xed\xa0\x80") == "���");
  CHECK(printable("\xed\x9f\xbf") == "\xed\x9f\xbf");
  CHECK(printable("\xf0\x8f\xbf\xbf") == "����");
  CHECK(printable("\xf4\x8f\xbf\xbf") == "\xf4\x8f\xbf\xbf");
  CHECK(printable("\xf4\x90\x80\x80") == "����");
  CHECK(printable("\xf5\x80\x80\x80") == "����");
}

TEST_CASE("a stream holds back the beginning of a character and gives the same text in any pieces") {
  Utf8Stream stream;
  CHECK(stream.push("a\xf0\x9f") == "a");
  CHECK(stream.push("\x99") == "");
  CHECK(stream.push("\x82!") == "🙂!");
  CHECK(stream.push("\xe6\xbc") == "");
  CHECK(stream.push("x") == "��x");
  CHECK(stream.push("\xe6") == "");
  CHECK(stream.finish() == "�");
  CHECK(stream.finish() == "");

  const std::string text = "ß\xff漢\xe6🙂\xed\xa0\x80z\xc3";
  for (size_t piece = 1; piece <= 4; ++piece) {
    Utf8Stream pieces;
    std::string joined;
    for (size_t i = 0; i < text.size(); i += piece) joined += pieces.push(text.substr(i, piece));
    CHECK(joined + pieces.finish() == printable(text));
  }
}
