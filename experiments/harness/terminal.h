// The terminal: how large it is, and what fits.
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace isobar {

struct TerminalSize {
  size_t rows = 24, columns = 80;
};

bool is_terminal(std::FILE* stream);
// The size of the terminal that the stream writes to; the usual one where it is none, or does not say. Where the variable
// COLUMNS holds a number of columns, that many.
TerminalSize terminal_size(std::FILE* stream);
// The text (UTF-8), or as much of its beginning as fits into so many columns.
std::string cut(const std::string& text, size_t columns);
// The text in lines of at most so many columns, broken at blanks; a word that is longer is broken after a comma, or
// where the line ends. Its own ends of lines stay. At least one line.
std::vector<std::string> wrapped(std::string_view text, size_t columns);
// Where the word that begins at a place ends: before a blank, but not one between numbers in brackets.
size_t word_end(std::string_view text, size_t at);
// Columns that UTF-8 text takes on a terminal, one per code point.
size_t display_width(std::string_view text);

}  // namespace isobar
