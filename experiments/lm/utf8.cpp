#include "utf8.h"

#include <algorithm>

namespace isobar {
namespace {

constexpr std::string_view replacement = "\xef\xbf\xbd";

// The length of the character that a byte begins; 0: none does.
size_t length_by(unsigned char first) {
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first < 0xe0) return 2;
  if ((first & 0xf0) == 0xe0) return 3;
  return first >= 0xf0 && first < 0xf5 ? 4 : 0;
}

// Whether `bytes` may begin a character: each byte after the first is 10xxxxxx, and the second rules out
// overlong forms, surrogates and code points beyond U+10FFFF (RFC 3629, section 4).
bool may_begin(std::string_view bytes) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(bytes[i]); };
  for (size_t i = 1; i < bytes.size(); ++i)
    if ((byte(i) & 0xc0) != 0x80) return false;
  if (bytes.size() < 2) return true;
  return !(byte(0) == 0xe0 && byte(1) < 0xa0) && !(byte(0) == 0xed && byte(1) >= 0xa0) &&
         !(byte(0) == 0xf0 && byte(1) < 0x90) && !(byte(0) == 0xf4 && byte(1) >= 0x90);
}

bool control(std::string_view character) {
  const unsigned char c = character[0];
  return (c < 0x20 && c != '\n') || c == 0x7f;
}

}  // namespace

std::string Utf8Stream::push(std::string_view bytes) {
  waiting_ += bytes;
  std::string result;
  size_t i = 0;
  while (i < waiting_.size()) {
    const size_t length = length_by(static_cast<unsigned char>(waiting_[i]));
    const std::string_view there = std::string_view(waiting_).substr(i, std::max<size_t>(length, 1));
    const bool possible = length > 0 && may_begin(there);
    if (possible && there.size() < length) break;
    const bool shown = possible && !control(there);
    result += shown ? there : replacement;
    i += shown ? length : 1;
  }
  waiting_.erase(0, i);
  return result;
}

std::string Utf8Stream::finish() {
  std::string result;
  for (size_t i = 0; i < waiting_.size(); ++i) result += replacement;
  waiting_.clear();
  return result;
}

std::string printable(std::string_view text) {
  Utf8Stream stream;
  const std::string whole = stream.push(text);
  return whole + stream.finish();
}

}  // namespace isobar
