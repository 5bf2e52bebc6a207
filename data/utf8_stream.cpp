#include "utf8_stream.h"

#include "utf8.h"

namespace isobar {
namespace {

constexpr std::string_view replacement = "\xef\xbf\xbd";

bool shown(uint32_t character) {
  const bool control = (character < 0x20 && character != '\n') || character == 0x7f;
  return character < stray_byte && !control;
}

}  // namespace

std::string Utf8Stream::push(std::string_view bytes) {
  waiting_ += bytes;
  const size_t whole = waiting_.size() - incomplete_bytes(waiting_);
  std::string result;
  for (size_t i = 0; i < whole;) {
    const Character next = first_character(std::string_view(waiting_).substr(i, whole - i));
    result += shown(next.number) ? std::string_view(waiting_).substr(i, next.bytes) : replacement;
    i += next.bytes;
  }
  waiting_.erase(0, whole);
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
