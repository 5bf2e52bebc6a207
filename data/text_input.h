// TextInput: the documents of a corpus, read piece by piece from files of any size.
//
//   read_documents({.paths = {"a.txt", "b.jsonl.gz"}}, [](std::string_view piece, bool last) { … });
//
// Without `field` each file is one document, byte for byte: any encoding is accepted, and a byte order
// mark, NUL or CRLF are part of the text. With `field` each line is a JSON object whose text of that name is
// a document; blank lines are skipped. JSON is UTF-8 (RFC 8259 section 8.1): an error names the number of a
// line that is not. A file whose name ends in .gz is decompressed while it is read. Empty documents are
// skipped.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace isobar {

struct TextInput {
  std::vector<std::string> paths;
  std::string field = "";
};

// The longest line of a JSON file; a document in it must fit into memory.
inline constexpr size_t longest_json_line = size_t{1} << 28;

// Calls visit(piece, last) for the pieces of each document in order; `last` is true for its last piece, which
// may be empty. Throws Error that names the file if it cannot be read, ends in .gz but is not gzip, is
// truncated, or has a line without the text.
void read_documents(const TextInput& input, const std::function<void(std::string_view, bool)>& visit);

// The longest text that is read as a whole: as tokens it takes five times as much memory.
inline constexpr size_t longest_text = size_t{1} << 30;

// The text of a file, as read_documents() gives it. Throws Error where there is none, or more than `limit`
// bytes: a compressed file may hold a thousand times what it takes, and a device does not end.
std::string read_text(const std::string& path, size_t limit = longest_text);

}  // namespace isobar
