// The terminal: how large it is, and what fits.
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>

namespace isobar {

struct TerminalSize {
  size_t rows = 24, columns = 80;
};

bool is_terminal(std::FILE* stream);
// The width of the terminal that the stream writes to; the usual one where it is none, or does not say.
TerminalSize terminal_size(std::FILE* stream);
// The text (UTF-8), or as much of its beginning as fits into so many columns.
std::string cut(const std::string& text, size_t columns);

}  // namespace isobar
