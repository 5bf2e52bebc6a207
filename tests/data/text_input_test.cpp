#include "../../data/text_input.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "../message_of.h"
#include "gzipped.h"

namespace isobar::text_input_test {

using namespace std::string_literals;

using Documents = std::vector<std::string>;

Documents documents_of(const TextInput& input) {
  Documents documents;
  std::string document;
  read_documents(input, [&](std::string_view piece, bool last) {
    document += piece;
    if (!last) return;
    documents.push_back(document);
    document.clear();
  });
  CHECK(document.empty());
  return documents;
}

// What any file may hold: a byte order mark, NUL, CRLF, and bytes that are no UTF-8.
const std::string odd = "\xEF\xBB\xBFline\r\nnul \0 stray \xFF\xC3 end"s;

TEST_CASE("a text file is one document, byte for byte") {
  const TemporaryFolder folder;
  const std::string large(3'000'001, 'x');  // of several pieces
  const TextInput input{{folder.write("odd.txt", odd), folder.write("empty.txt", ""),
                         folder.write("large.txt", large), folder.write("gzip_magic.txt", "\x1f\x8b text")}};
  CHECK(documents_of(input) == Documents{odd, large, "\x1f\x8b text"});
}

TEST_CASE("a .gz file is the text in it") {
  const TemporaryFolder folder;
  const TextInput input{{folder.write("odd.txt.gz", gzipped(odd)),
                         folder.write("two.gz", gzipped("one ") + gzipped("two")),
                         folder.write("none.gz", gzipped(""))}};
  CHECK(documents_of(input) == Documents{odd, "one two"});
}

TEST_CASE("JSON lines are documents of one field") {
  const TemporaryFolder folder;
  const std::string lines =
      "{\"text\": \"one\", \"id\": 1}\r\n\n  \n{\"id\": {\"text\": \"no\"}, \"text\": "
      "\"a\\nb\\u0000\\ud83d\\ude00ß\"}\n"
      "{\"text\": \"\"}\n{\"text\": \"last\"}";
  const Documents wanted{"one", std::string("a\nb\0😀ß", 10), "last"};
  CHECK(documents_of({{folder.write("a.jsonl", lines)}, "text"}) == wanted);
  CHECK(documents_of({{folder.write("bom.jsonl", "\xEF\xBB\xBF" + lines)}, "text"}) == wanted);
  CHECK(documents_of({{folder.write("a.jsonl.gz", gzipped(lines))}, "text"}) == wanted);
}

TEST_CASE("a file that cannot be read is named, with the line") {
  const TemporaryFolder folder;
  const auto refusal = [&](const std::string& name, const std::string& bytes, const std::string& field = "") {
    const std::string path = folder.write(name, bytes);
    std::string message = message_of([&] { documents_of({{path}, field}); });
    CHECK(message.find('\n') == std::string::npos);
    const size_t at = message.find(path);
    REQUIRE(at != std::string::npos);
    return message.replace(at, path.size(), name);
  };
  const std::string gz = gzipped(std::string(1000, 'x') + odd);
  CHECK(refusal("cut.gz", gz.substr(0, gz.size() / 2))
            .starts_with("text: cannot read cut.gz: unexpected end of file"));
  CHECK(refusal("short.gz", gz.substr(0, gz.size() - 3)).starts_with("text: cannot read short.gz"));
  std::string flipped = gz;
  flipped[gz.size() - 6] ^= 4;  // in the checksum
  CHECK(refusal("flipped.gz", flipped).starts_with("text: cannot read flipped.gz: incorrect data check"));
  CHECK(refusal("text.gz", "plain") ==
        "text: text.gz is no gzip file, though its name ends in .gz; give it its right name");
  CHECK(refusal("a.jsonl", "{\"text\": \"x\"}\n{\"body\": \"y\"}\n", "text") ==
        "text: a.jsonl:2: wanted an object with a text under 'text'");
  CHECK(refusal("b.jsonl", "\n[1]\n", "text") ==
        "text: b.jsonl:2: wanted an object with a text under 'text'");
  CHECK(refusal("c.jsonl", "{\"text\": 5}", "text") ==
        "text: c.jsonl:1: wanted an object with a text under 'text'");
  CHECK(refusal("d.jsonl", "{\"text\": \"x\"}\n{\"text", "text").starts_with("text: d.jsonl:2: no JSON: "));
  CHECK(refusal("e.jsonl", "{\"text\": \"\xFF\"}", "text").starts_with("text: e.jsonl:1: no JSON: "));
  CHECK(message_of([&] { documents_of({{folder / "none.txt"}}); }).find("No such file") != std::string::npos);
  CHECK(message_of([&] { documents_of({{folder / "none.gz"}}); }).find("No such file") != std::string::npos);
  CHECK(message_of([&] { documents_of({{folder.path()}}); }).find("is a folder") != std::string::npos);
}

TEST_CASE(
    "a lone surrogate in JSON is read as U+FFFD and counted; a pair and an escaped backslash are not touched") {
  const TemporaryFolder folder;
  const std::string lines =
      "{\"text\": \"a\\ud83d b\"}\n{\"text\": \"\\ude00\\ud83d\\ude00\\uD83D\"}\n"
      "{\"text\": \"\\\\ud83d\"}\n{\"text\": \"\\\\\\ud83dx\"}";
  Documents documents;
  const TextInput input{{folder.write("a.jsonl", lines)}, "text"};
  const int64_t replaced =
      read_documents(input, [&](std::string_view piece, bool) { documents.emplace_back(piece); });
  CHECK(documents == Documents{"a\uFFFD b", "\uFFFD😀\uFFFD", "\\ud83d", "\\\uFFFDx"});
  CHECK(replaced == 4);
}

TEST_CASE("what is wrong with a line of JSON is said whole, however long the line is") {
  const TemporaryFolder folder;
  const std::string path = folder.write("a.jsonl", "{\"text\": \"" + std::string(5000, 'x') + "\x01\"}\n");
  const std::string message = message_of([&] { documents_of({{path}, "text"}); });
  CHECK(message.starts_with("text: " + path + ":1: no JSON: parse error at line 1, column 501"));
  CHECK(message.ends_with("control character U+0001 (SOH) must be escaped to \\u0001"));
}

std::string utf16(const std::string& text, bool big, bool marked, size_t width = 2) {
  std::string bytes;
  for (const char c : (marked ? "\xFF" : "") + text) {
    std::string unit(width, '\0');
    unit[0] = c;
    if (c == '\xFF') unit[0] = '\xFF', unit[1] = '\xFE';  // U+FEFF
    if (big) std::reverse(unit.begin(), unit.end());
    bytes += unit;
  }
  return bytes;
}

TEST_CASE("a file that hardly is a text in UTF-8 is named, and any other is not") {
  const TemporaryFolder folder;
  const auto notice = [&](const std::string& bytes, const std::string& name = "x") {
    const std::string path = folder.write(name, bytes), said = text_notice(path);
    CHECK(said.find('\n') == std::string::npos);
    return said.empty() ? "" : said.substr(path.size() + 1);
  };
  const std::string text = "It was the best of times,\nit was the worst of times.\n";
  const struct {
    std::string bytes, said;
  } odd_ones[] = {
      {utf16(text, false, true),
       "looks like UTF-16LE (it begins with that byte order mark); iconv -f UTF-16LE"},
      {utf16(text, true, true), "looks like UTF-16BE (it begins"},
      {utf16(text, false, true, 4), "looks like UTF-32LE (it begins"},
      {utf16(text, true, true, 4), "looks like UTF-32BE (it begins"},
      {utf16(text, false, false), "looks like UTF-16LE (by its zero bytes)"},
      {utf16(text, true, false), "looks like UTF-16BE (by its zero bytes)"},
      {utf16(text, false, false, 4), "looks like UTF-32LE (by its zero bytes)"},
      {utf16(text, true, false, 4), "looks like UTF-32BE (by its zero bytes)"},
      {"PK\3\4" + text, "looks like a zip archive; unpack it first"},
      {"BZh91AY&SY" + text, "looks like a bzip2 file"},
      {"\xFD\x37zXZ\0"s + text, "looks like an xz file"},
      {gzipped(text), "looks like a gzip file"},
      {"\x28\xB5\x2F\xFD" + text, "looks like a zstd file"},
      {std::string(257, 'a') + "ustar" + text, "looks like a tar archive"},
      {"\xEF\xBB\xBF" + text, "begins with a byte order mark, which becomes a token"},
      {text + "\0"s + text, "has bytes of zero, as no text has"},
      {"caf\xE9 au lait\n", "has bytes that are not UTF-8 (1 of the first 13); if it is Latin-1: iconv"},
      {"{\"id\": 1, \"body\": \"a\"}\n\n{\"body\": \"b\"}\n",
       "looks like JSON lines; isobar prepare --field body takes the texts out of them"},
      {"{\"a\": \"x\", \"text\": \"y\"}", "looks like JSON lines; isobar prepare --field text takes"},
      {"one\rtwo\rthree", "has line ends of CR alone"}};
  for (const auto& [bytes, said] : odd_ones) {
    CHECK(notice(bytes).starts_with(said));
    CHECK(notice(gzipped(bytes), "x.gz").starts_with(said));
  }
  // A character may be cut by the end of the sample, 1 MiB.
  const std::string long_text = std::string((1 << 20) - 1, 'x') + "ß";
  for (const std::string& fine : {text, "schöne Grüße 中文 😀\n"s, "a\r\nb\r\n"s, "{\"a\": 1}\nno JSON\n"s,
                                  "[1]\n"s, "{}x"s, "PK"s, "x"s, long_text})
    CHECK(notice(fine) == "");
  CHECK(notice(gzipped(text), "text.gz") == "");
  CHECK(text_notice("/dev/zero") == "");
  CHECK(text_notices({{folder.write("a.jsonl", odd_ones[17].bytes)}, "body"}).empty());
  CHECK(text_notices({{folder / "a.jsonl", folder / "x", folder / "a.jsonl"}}).size() == 2);
}

TEST_CASE("a text beyond memory's limit is refused while it is read, compressed or without an end") {
  const TemporaryFolder folder;
  const std::string bomb = folder.write("bomb.gz", gzipped(std::string(1 << 22, 'x')));
  CHECK(std::filesystem::file_size(bomb) < 10'000);
  CHECK(read_text(bomb, 1 << 22).size() == 1 << 22);
  for (const std::string& path : {bomb, std::string("/dev/zero")})
    CHECK(message_of([&] { read_text(path, 1'000'000); })
              .starts_with("text: " + path +
                           " holds more than 1000000 bytes, which memory is not asked to hold; "));
  CHECK(message_of([&] { read_text(folder.write("none", "")); }).find("is empty") != std::string::npos);
}

}  // namespace isobar::text_input_test
