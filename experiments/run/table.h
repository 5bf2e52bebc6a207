// Table: rows of text in aligned columns, for the terminal.
//
//   Table table({"net", "std", "theory"}, "lrr");
//   table.row({"plain", number_text(0.3373), number_text(0.3374)});
//   fmt::print("{}", table.text());
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace isobar {

struct Spread;  // stats.h

class Table {
 public:
  // `columns` has a letter for each, as in LaTeX: 'l' is a text, set flush left, 'r' a number, set flush right.
  Table(std::vector<std::string> heading, std::string columns);
  // Throws Error unless there is one cell per column.
  void row(std::vector<std::string> cells);
  // Heading, a rule, the rows. Where the table is wider than `columns` (0: the terminal), texts and headings wrap at
  // blanks and commas; numbers and single words never do.
  std::string text(size_t columns = 0) const;

 private:
  std::string columns_;
  std::vector<std::vector<std::string>> rows_;  // the heading first
};

// A number in four significant digits: "0.3373", "6.24e-37", "inf", "nan".
std::string number_text(double value);
// The same, and "–" for NaN: what was not measured, or has no theory.
std::string number_or_dash(double value);
// "12.5 %" for a share of 0.125, and "–" for NaN.
std::string percent_text(double share);
// Median, range unless all are equal, and how many are not finite: "0.3373 [0.3323, inf], 2 not finite".
std::string spread_text(const Spread& spread);

// --- The terminal: how large it is, and what fits.

struct TerminalSize {
  size_t rows = 24, columns = 80;
};

bool is_terminal(std::FILE* stream);
// The size of the stream's terminal, or the usual one; the variable COLUMNS wins.
TerminalSize terminal_size(std::FILE* stream);
// The text (UTF-8), or as much of its beginning as fits into so many columns.
std::string cut(const std::string& text, size_t columns);
// The text in lines of at most so many columns, broken at blanks; a word that is longer is broken after a
// comma, or where the line ends. Its own ends of lines stay. At least one line.
std::vector<std::string> wrapped(std::string_view text, size_t columns);
// Where the word that begins at a place ends: before a blank, but not one between numbers in brackets.
size_t word_end(std::string_view text, size_t at);
// Columns that UTF-8 text takes on a terminal, one per code point.
size_t display_width(std::string_view text);

}  // namespace isobar
