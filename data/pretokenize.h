// GPT-2's split of a text into words; byte-level BPE merges within words (Radford et al. 2019; openai/gpt-2,
// src/encoder.py):
//
//   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
//
//   split_words("It's  25 €")        // "It" "'s" " " " 25" " €"
//
// Character classes are those of libutf8proc's Unicode; \s is White_Space. A byte that is not part of valid
// UTF-8 is a character that is neither letter, number nor space. The concatenated words are the text. One
// rule is added: a word that would be longer than longest_word bytes ends with the last character that fits,
// and the next word starts there, so that a text of any size can be split in little memory.
#pragma once

#include <vector>

#include "utf8.h"

namespace isobar {

inline constexpr size_t longest_word = size_t{1} << 16;

// The length in bytes of the first word of a non-empty text.
size_t first_word(std::string_view text);

// Calls visit(word) for the words of a text in order and returns the number of their bytes. Unless `last`,
// more text may follow, and only words that no following text can change are visited.
template <class Visit>
size_t for_each_word(std::string_view text, bool last, const Visit& visit) {
  constexpr size_t longest_contraction = 3;
  if (!last) text.remove_suffix(incomplete_bytes(text));
  size_t begin = 0;
  while (begin < text.size()) {
    const size_t length = first_word(text.substr(begin));
    // A run of characters goes on until another kind is seen, and "'" may begin a contraction.
    if (!last && (begin + length == text.size() || begin + longest_contraction > text.size())) break;
    visit(text.substr(begin, length));
    begin += length;
  }
  return begin;
}

// All words of a text, as views into it.
std::vector<std::string_view> split_words(std::string_view text);

}  // namespace isobar
