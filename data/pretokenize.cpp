// The words of a text.
#include <utf8proc.h>

#include <algorithm>
#include <array>

#include "bpe.h"

namespace isobar {
namespace {

enum class Kind : uint8_t { letter, number, space, other };

Kind look_up(uint32_t number) {
  if ((number >= 0x09 && number <= 0x0D) || number == 0x85)
    return Kind::space;  // control characters with White_Space
  if (number >= stray_byte) return Kind::other;
  const auto category = utf8proc_category(static_cast<utf8proc_int32_t>(number));
  if (category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO) return Kind::letter;
  if (category >= UTF8PROC_CATEGORY_ND && category <= UTF8PROC_CATEGORY_NO) return Kind::number;
  if (category >= UTF8PROC_CATEGORY_ZS && category <= UTF8PROC_CATEGORY_ZP) return Kind::space;
  return Kind::other;
}

const std::array<Kind, 128>& ascii_kinds() {
  static const std::array<Kind, 128> kinds = [] {
    std::array<Kind, 128> table;
    for (uint32_t number = 0; number < 128; ++number) table[number] = look_up(number);
    return table;
  }();
  return kinds;
}

struct Symbol {
  Kind kind;
  size_t bytes;
};

// The character at the start of a non-empty text.
Symbol first_symbol(std::string_view text) {
  static const std::array<Kind, 128>& ascii = ascii_kinds();
  const auto byte = static_cast<unsigned char>(text[0]);
  if (byte < 128) return {ascii[byte], 1};
  const Character character = first_character(text);
  return {look_up(character.number), character.bytes};
}

// A run of characters of one kind.
struct Run {
  size_t end;        // offset of its end, in bytes
  size_t last_size;  // bytes of its last character
};

// The run of `kind` that starts at byte `begin`, cut before a word becomes too long.
Run run_of(std::string_view text, size_t begin, Kind kind) {
  const std::string_view word = text.substr(0, longest_word + 4);  // one character more, to find the cut
  Run run{begin, 0};
  while (run.end < word.size()) {
    const Symbol symbol = first_symbol(word.substr(run.end));
    if (symbol.kind != kind || run.end + symbol.bytes > longest_word) break;
    run.end += symbol.bytes;
    run.last_size = symbol.bytes;
  }
  return run;
}

// The length of the contraction at the start of the text; 0 if there is none.
size_t contraction(std::string_view text) {
  for (const std::string_view one : {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"})
    if (text.starts_with(one)) return one.size();
  return 0;
}

}  // namespace

size_t first_word(std::string_view text) {
  if (text[0] == '\'')
    if (const size_t length = contraction(text)) return length;
  const size_t begin = text[0] == ' ' && text.size() > 1 ? 1 : 0;
  const Kind kind = first_symbol(text.substr(begin)).kind;
  if (kind != Kind::space) return run_of(text, begin, kind).end;
  // The last character of white space before a word belongs to that word or is a word of its own.
  const Run run = run_of(text, 0, Kind::space);
  const bool at_end = run.end == text.size() || first_symbol(text.substr(run.end)).kind == Kind::space;
  return at_end || run.end == run.last_size ? run.end : run.end - run.last_size;
}

std::vector<std::string_view> split_words(std::string_view text) {
  std::vector<std::string_view> words;
  for_each_word(text, true, [&](std::string_view word) { words.push_back(word); });
  return words;
}

}  // namespace isobar
