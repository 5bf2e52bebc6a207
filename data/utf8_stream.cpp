#include "utf8_stream.h"

#include <fmt/format.h>
#include <utf8proc.h>

#include <algorithm>

#include "utf8.h"

namespace isobar {
namespace {

constexpr std::string_view replacement = "\xef\xbf\xbd";

bool shown(uint32_t character) {
  const bool control = (character < 0x20 && character != '\n') || (character >= 0x7f && character < 0xa0);
  const bool turning = (character >= 0x202a && character <= 0x202e) ||
                       (character >= 0x2066 && character <= 0x2069) || character == 0x200e ||
                       character == 0x200f || character == 0x061c;
  return character < stray_byte && !control && !turning;
}

}  // namespace

std::string Utf8Stream::push(std::string_view bytes) {
  waiting_ += bytes;
  const std::string_view whole =
      std::string_view(waiting_).substr(0, waiting_.size() - incomplete_bytes(waiting_));
  std::string result;
  for_each_character(whole, [&](const Character& character, size_t offset) {
    result += shown(character.number) ? whole.substr(offset, character.bytes) : replacement;
  });
  waiting_.erase(0, whole.size());
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

std::string unseen_character(std::string_view text) {
  for (; !text.empty(); text.remove_prefix(first_character(text).bytes)) {
    const uint32_t character = first_character(text).number;
    if (character >= stray_byte) continue;
    const utf8proc_property_t& property = *utf8proc_get_property(static_cast<utf8proc_int32_t>(character));
    const int category = property.category;
    if (property.ignorable || category == UTF8PROC_CATEGORY_CC || category == UTF8PROC_CATEGORY_CF ||
        category == UTF8PROC_CATEGORY_ZL || category == UTF8PROC_CATEGORY_ZP)
      return fmt::format("U+{:04X}", character);
  }
  return "";
}

std::string one_line(std::string_view text, size_t most) {
  std::string shown;
  if (text.size() <= most) {
    shown = printable(text);
  } else {
    // Without the halves of characters at the two cuts.
    std::string_view begin = text.substr(0, most / 2), end = text.substr(text.size() - most / 2);
    begin.remove_suffix(incomplete_bytes(begin));
    for (int i = 0; i < 3 && !end.empty() && (end[0] & 0xC0) == 0x80; ++i) end.remove_prefix(1);
    shown = fmt::format("{} … ({} bytes) … {}", printable(begin), text.size(), printable(end));
  }
  std::replace(shown.begin(), shown.end(), '\n', ' ');
  return shown;
}

}  // namespace isobar
