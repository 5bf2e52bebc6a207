// Untrusted bytes as text for a terminal.
#pragma once

#include "../core/error.h"

namespace isobar {

// Converts bytes that arrive in parts, such as tokens, to text that can be printed at once. Complete UTF-8
// characters (RFC 3629) are returned; the beginning of a character waits for its other bytes. Control
// characters except newline (C0, DEL, C1), marks that change the direction of text (Unicode 15, table 23-3),
// and bytes that are not part of a character become "�".
//
//   Utf8Stream stream;
//   stream.push("\xc3");     // ""
//   stream.push("\x9f!");    // "ß!"
//   stream.finish();         // "": no byte is waiting
class Utf8Stream {
 public:
  std::string push(std::string_view bytes);
  // Returns "�" for waiting bytes.
  std::string finish();

 private:
  std::string waiting_;
};

// Returns a whole text converted in this way.
std::string printable(std::string_view text);

// Returns the code point, such as "U+202E", of the first invisible character of a text: a control or format
// character, the end of a line or paragraph, or one that is ignorable by default in Unicode (zero width,
// variation selectors, tags). Returns an empty text if there is none.
std::string unseen_character(std::string_view text);

// Returns printable() of a text as one line for a message. Ends of lines become spaces. If the text has more
// than `most` bytes, its middle is left out: "abc … (5000 bytes) … xyz".
std::string one_line(std::string_view text, size_t most = 80);
// Untrusted bytes as an argument of check(): the message has one_line() of them.
struct Shown {
  std::string_view bytes;
  std::string text() const { return one_line(bytes); }
};

}  // namespace isobar

template <>
struct fmt::formatter<isobar::Shown> : isobar::TextFormatter {};
