// The words of a text.
#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "../core/error.h"
#include "bpe.h"

namespace isobar {
namespace {

enum class Kind : uint8_t { letter, number, space, other };

struct Range {
  uint32_t first, last;
};

// Letters and numbers that Unicode 15.1 to 17.0 added: a newer libutf8proc knows them, and the words of a text are those
// of Unicode 15.0 on every system.
constexpr Range assigned_later[] = {
    {0x88F, 0x88F},     {0xC5C, 0xC5C},     {0xCDC, 0xCDC},     {0x1C89, 0x1C8A},   {0xA7CB, 0xA7CF},
    {0xA7D2, 0xA7D2},   {0xA7D4, 0xA7D4},   {0xA7DA, 0xA7DC},   {0xA7F1, 0xA7F1},   {0x105C0, 0x105F3},
    {0x10940, 0x10959}, {0x10D40, 0x10D65}, {0x10D6F, 0x10D85}, {0x10EC2, 0x10EC7}, {0x11380, 0x11389},
    {0x1138B, 0x1138B}, {0x1138E, 0x1138E}, {0x11390, 0x113B5}, {0x113B7, 0x113B7}, {0x113D1, 0x113D1},
    {0x113D3, 0x113D3}, {0x116D0, 0x116E3}, {0x11BC0, 0x11BE0}, {0x11BF0, 0x11BF9}, {0x11DB0, 0x11DDB},
    {0x11DE0, 0x11DE9}, {0x13460, 0x143FA}, {0x16100, 0x1611D}, {0x16130, 0x16139}, {0x16D40, 0x16D6C},
    {0x16D70, 0x16D79}, {0x16EA0, 0x16EB8}, {0x16EBB, 0x16ED3}, {0x16FF2, 0x16FF6}, {0x187F8, 0x187FF},
    {0x18CFF, 0x18CFF}, {0x18D09, 0x18D1E}, {0x18D80, 0x18DF2}, {0x1CCF0, 0x1CCF9}, {0x1E5D0, 0x1E5ED},
    {0x1E5F0, 0x1E5FA}, {0x1E6C0, 0x1E6DE}, {0x1E6E0, 0x1E6E2}, {0x1E6E4, 0x1E6E5}, {0x1E6E7, 0x1E6ED},
    {0x1E6F0, 0x1E6F4}, {0x1E6FE, 0x1E6FF}, {0x2B73A, 0x2B73F}, {0x2CEA2, 0x2CEAD}, {0x2EBF0, 0x2EE5D},
    {0x323B0, 0x33479}};

bool is_assigned_later(uint32_t number) {
  const auto range = std::ranges::lower_bound(assigned_later, number, {}, &Range::last);
  return range != std::end(assigned_later) && range->first <= number;
}

Kind look_up(uint32_t number) {
  if ((number >= 0x09 && number <= 0x0D) || number == 0x85)
    return Kind::space;  // control characters with White_Space
  if (number >= stray_byte || is_assigned_later(number)) return Kind::other;
  static const bool old = std::atoi(utf8proc_unicode_version()) < 15;
  check(!old || number < 128,
        "words: wanted a libutf8proc of Unicode 15.0 or newer (2.8), got one of {}: its letters are others",
        utf8proc_unicode_version());
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
