// Utf8Stream: what reaches the terminal is valid UTF-8, in whatever pieces it comes.
#include "../../data/utf8_stream.h"

#include <doctest/doctest.h>

namespace isobar::utf8_stream_test {

TEST_CASE("printable text keeps UTF-8 and newlines and replaces the rest") {
  CHECK(printable("a\nß漢🙂") == "a\nß漢🙂");
  CHECK(printable("a\x1b[2J\x80z\xff") == "a�[2J�z�");
  CHECK(printable("\xe6\xbc") == "��");
  CHECK(printable(std::string("\0\x7f", 2)) == "��");
}

TEST_CASE("printable text has no control characters of the upper half and no marks that turn its direction") {
  CHECK(printable("a\xc2\x9b"
                  "31mb") == "a�31mb");                                // CSI in one character
  CHECK(printable("\xe2\x80\xaegpj.exe\xe2\x81\xa6") == "�gpj.exe�");  // U+202E, U+2066
  CHECK(printable("\xc2\xa0 שלום") == "\xc2\xa0 שלום");
}

TEST_CASE("one line holds no newline, and of a long text its beginning, length and end") {
  CHECK(one_line("a\nb\x1b") == "a b�");
  CHECK(one_line(std::string(80, 'x')) == std::string(80, 'x'));
  CHECK(one_line("ab" + std::string(5000, 'x') + "yz", 4) == "ab … (5004 bytes) … yz");
  CHECK(one_line("漢漢漢漢", 4) == " … (12 bytes) … ");  // no half of a character
  CHECK(one_line("漢a" + std::string(9, 'x') + "ß漢", 8) == "漢a … (18 bytes) … 漢");
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

}  // namespace isobar::utf8_stream_test
