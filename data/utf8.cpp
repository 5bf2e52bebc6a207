#include "utf8.h"

#include <utf8proc.h>

namespace isobar {

Character first_character(std::string_view text) {
  const auto* const bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  if (bytes[0] < 0x80) return {bytes[0], 1};
  utf8proc_int32_t code_point = 0;
  const auto length = utf8proc_iterate(bytes, static_cast<utf8proc_ssize_t>(text.size()), &code_point);
  if (length <= 0) return {stray_byte + bytes[0], 1};
  return {static_cast<uint32_t>(code_point), static_cast<size_t>(length)};
}

void append_character(std::string& text, uint32_t number) {
  if (number >= stray_byte) return text.push_back(static_cast<char>(number - stray_byte));
  utf8proc_uint8_t bytes[4];
  const auto length = utf8proc_encode_char(static_cast<utf8proc_int32_t>(number), bytes);
  text.append(reinterpret_cast<const char*>(bytes), static_cast<size_t>(length));
}

size_t incomplete_bytes(std::string_view text) {
  for (size_t tail = 1; tail <= 3 && tail <= text.size(); ++tail) {
    const auto byte = static_cast<unsigned char>(text[text.size() - tail]);
    if ((byte & 0xC0) == 0x80) continue;
    const size_t length = byte < 0xC2 || byte > 0xF4 ? 0 : byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : 2;
    return length > tail ? tail : 0;
  }
  return 0;
}

}  // namespace isobar
