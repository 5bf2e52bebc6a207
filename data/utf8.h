// Characters of byte strings that need not be valid UTF-8. RFC 3629 section 4 defines what is valid: no
// overlong forms, no surrogates, nothing above U+10FFFF. A byte that is not part of valid UTF-8 is a stray
// byte, which counts as a character.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace isobar {

// Characters are numbered by their code point; stray byte b is number stray_byte + b, after all code points.
inline constexpr uint32_t stray_byte = 0x110000;
// One more than the number of the last character.
inline constexpr uint32_t character_count = stray_byte + 0x100;

// A character of a text: a code point, or a stray byte.
struct Character {
  uint32_t number;
  size_t bytes;  // its length in the text
};

// The character at the start of a non-empty text.
Character first_character(std::string_view text);

// Calls visit(character, its offset in bytes) for each character of a text in order.
template <class Visit>
void for_each_character(std::string_view text, const Visit& visit) {
  for (size_t offset = 0; offset < text.size();) {
    const Character character = first_character(text.substr(offset));
    visit(character, offset);
    offset += character.bytes;
  }
}

// Appends the bytes of a character.
void append_character(std::string& text, uint32_t number);

// The number of bytes at the end of a text, 0 to 3, that start a character which following bytes could
// complete.
size_t incomplete_bytes(std::string_view text);

}  // namespace isobar
