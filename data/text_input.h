// TextInput: the documents of a corpus, read piece by piece from files of any size.
//
//   read_documents({.paths = {"a.txt", "b.jsonl.gz"}}, [](std::string_view piece, bool last) { … });
//
// Without `field` each file is one document, byte for byte: no encoding is asked of it, and a byte order
// mark, NUL or CRLF are text. With it each line is a JSON object, and the text under that name a document;
// blank lines are none. JSON is UTF-8 (RFC 8259 section 8.1): a line that is not is refused, with its number.
// A file whose name ends in .gz is decompressed on the way. Empty documents are left out.
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

// Calls visit(piece, last) for the pieces of each document in order, `last` with the last one, which may be
// empty. Throws Error that names the file that cannot be read, is no gzip file though it is called so, is cut
// short, or has no text in the line.
void read_documents(const TextInput& input, const std::function<void(std::string_view, bool)>& visit);

// Throws Error where what is to be written would replace one of the texts.
void refuse_as_output(const TextInput& input, const std::string& out);

}  // namespace isobar
