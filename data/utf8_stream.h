// Text for a terminal, out of bytes that may be anything.
#pragma once

#include "../core/error.h"

namespace isobar {

// Bytes that come in pieces, as tokens do, to text that can be shown as it grows: whole UTF-8 characters
// (RFC 3629) pass, the beginning of one waits for its rest. Control characters but newline (C0, DEL, C1), the
// marks that turn the direction of what follows (Unicode 15, table 23-3), and bytes that belong to no
// character become "�".
//
//   Utf8Stream stream;
//   stream.push("\xc3");     // ""
//   stream.push("\x9f!");    // "ß!"
//   stream.finish();         // "": nothing waits
class Utf8Stream {
 public:
  std::string push(std::string_view bytes);
  // What still waits, replaced.
  std::string finish();

 private:
  std::string waiting_;
};

// The same for a whole text.
std::string printable(std::string_view text);

// "U+202E" of the first character that has no look of its own: a control or format character, the end of a
// line or paragraph, and what Unicode calls ignorable by default (zero width, variation selectors, tags).
// Empty: there is none.
std::string unseen_character(std::string_view text);

// The same as one line for a message: ends of lines become blanks, and of a text of more than `most` bytes
// the middle is left out, "abc … (5000 bytes) … xyz".
std::string one_line(std::string_view text, size_t most = 80);
// For the arguments of check(): it becomes one line where the error is thrown.
struct Shown {
  std::string_view bytes;
  std::string text() const { return one_line(bytes); }
};

}  // namespace isobar

template <>
struct fmt::formatter<isobar::Shown> : isobar::TextFormatter {};
