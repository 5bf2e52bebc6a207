// Text for a terminal, out of bytes that may be anything.
#pragma once

#include <string>
#include <string_view>

namespace isobar {

// Bytes that come in pieces, as tokens do, to text that can be shown as it grows: whole UTF-8 characters
// (RFC 3629) pass, the beginning of one waits for its rest, and control characters but newline, and bytes
// that belong to no character, become "�".
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

}  // namespace isobar
