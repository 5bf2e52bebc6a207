// TextInput: the documents of a corpus, read in parts from files of any size.
//
//   read_documents({.paths = {"a.txt", "b.jsonl.gz"}}, [](std::string_view piece, bool last) { … });
//
// Without `field` each file is one document, byte for byte: any encoding is accepted, and a byte order
// mark, NUL or CRLF are part of the text. With `field` each line is a JSON object whose text of that name is
// a document; blank lines are skipped. JSON is UTF-8 (RFC 8259 section 8.1): an error names the number of a
// line that is not. A file whose name ends in .gz is decompressed while it is read. Empty documents are
// skipped.
#pragma once

#include <cstdint>
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
// may be empty. Returns how many lone surrogates ("\ud83d") JSON lines had: they are no characters (RFC 8259
// section 8.2) and are read as U+FFFD. Throws Error that names the file if it cannot be read, ends in .gz but
// is not gzip, is truncated, or has a line without the text.
int64_t read_documents(const TextInput& input, const std::function<void(std::string_view, bool)>& visit);

// The longest text that is read as a whole: as tokens it takes five times as much memory.
inline constexpr size_t longest_text = size_t{1} << 30;

// Returns the text of a file, as read_documents() reads it. Throws Error if there is none, or more than
// `limit` bytes: a compressed file may contain a thousand times its own size, and a device does not end.
std::string read_text(const std::string& path, size_t limit = longest_text);

// Returns the first bytes of a file, at most this many. Throws Error if it cannot be read.
std::string first_bytes(const std::string& path, size_t most);

// Returns a notice if the first MiB of a file does not look like a text in UTF-8, with the repair: "a.txt
// looks like UTF-16LE (…); iconv …". It detects UTF-16 and UTF-32, archives and compressed files, a byte
// order mark, bytes that are not UTF-8, JSON lines, and line ends of CR only. Empty for a text, and for a
// file that is not regular, which may be readable only once. A notice is not an error: all bytes are
// accepted.
std::string text_notice(const std::string& path);
// Returns the notices of all files; none with `field`, because then a line that is not JSON is an error.
std::vector<std::string> text_notices(const TextInput& input);

}  // namespace isobar
