#include "utf8.h"

namespace isobar {
namespace {

uint32_t byte_at(std::string_view text, size_t i) { return static_cast<unsigned char>(text[i]); }

// The length of the characters that start with this byte, at least 2; 0 for all other bytes.
size_t length_of(uint32_t lead) {
  if (lead < 0xC2 || lead > 0xF4) return 0;
  return lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
}

}  // namespace

Character first_character(std::string_view text) {
  const uint32_t lead = byte_at(text, 0);
  if (lead < 0x80) return {lead, 1};
  const size_t bytes = length_of(lead);
  const Character stray{stray_byte + lead, 1};
  if (bytes == 0 || text.size() < bytes) return stray;
  uint32_t code_point = lead & (0x7F >> bytes);
  for (size_t i = 1; i < bytes; ++i) {
    if ((byte_at(text, i) & 0xC0) != 0x80) return stray;
    code_point = code_point << 6 | (byte_at(text, i) & 0x3F);
  }
  const bool overlong = (bytes == 3 && code_point < 0x800) || (bytes == 4 && code_point < 0x10000);
  const bool surrogate = code_point >= 0xD800 && code_point < 0xE000;
  if (overlong || surrogate || code_point > 0x10FFFF) return stray;
  return {code_point, bytes};
}

void append_character(std::string& text, uint32_t number) {
  const auto append = [&](uint32_t byte) { text.push_back(static_cast<char>(byte)); };
  const auto continuation = [&](int shift) { append(0x80 | (number >> shift & 0x3F)); };
  if (number >= stray_byte) {
    append(number - stray_byte);
  } else if (number < 0x80) {
    append(number);
  } else if (number < 0x800) {
    append(0xC0 | number >> 6);
    continuation(0);
  } else if (number < 0x10000) {
    append(0xE0 | number >> 12);
    continuation(6);
    continuation(0);
  } else {
    append(0xF0 | number >> 18);
    continuation(12);
    continuation(6);
    continuation(0);
  }
}

size_t incomplete_bytes(std::string_view text) {
  for (size_t tail = 1; tail <= 3 && tail <= text.size(); ++tail) {
    const uint32_t byte = byte_at(text, text.size() - tail);
    if ((byte & 0xC0) != 0x80) return length_of(byte) > tail ? tail : 0;
  }
  return 0;
}

}  // namespace isobar
