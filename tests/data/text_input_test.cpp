#include "../../data/text_input.h"

#include <doctest/doctest.h>

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
