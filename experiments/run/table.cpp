#include "table.h"

#include <sys/ioctl.h>
#include <unistd.h>
#include <charconv>
#include <cstdlib>
#include <cstring>

#include "../../core/error.h"
#include "stats.h"

namespace isobar {
namespace {

std::string padded(const std::string& cell, size_t width, bool right) {
  const std::string space(width - display_width(cell), ' ');
  return right ? space + cell : cell + space;
}

struct Column {
  bool numbers = false;
  size_t width = 0, least = 0;  // least: what its cells need where texts wrap
};

// The width of the longest part that has no place to break it: a blank, or after a comma.
size_t longest_part(const std::string& text) {
  size_t longest = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = word_end(text, at);
    const std::string word = text.substr(at, end - at);
    for (size_t begin = 0; begin < word.size();) {
      const size_t comma = word[0] == '[' ? std::string::npos : word.find(',', begin);
      const size_t last = std::min(comma, word.size() - 1);
      longest = std::max(longest, display_width(std::string_view(word).substr(begin, last + 1 - begin)));
      begin = last + 1;
    }
    at = end + 1;
  }
  return longest;
}

std::vector<Column> layout_of(const std::vector<std::vector<std::string>>& rows, const std::string& letters,
                              size_t columns) {
  constexpr size_t narrow = 12, whole = 20;  // a text is not made narrower, and a short one stays on its line
  std::vector<Column> layout(rows[0].size());
  size_t total = 2 * (layout.size() - 1);
  for (size_t i = 0; i < layout.size(); ++i) {
    Column& column = layout[i];
    size_t cells = 0, part = longest_part(rows[0][i]);
    for (size_t row = 1; row < rows.size(); ++row) {
      cells = std::max(cells, display_width(rows[row][i]));
      part = std::max(part, longest_part(rows[row][i]));
    }
    column.numbers = letters[i] == 'r';
    column.width = std::max(cells, display_width(rows[0][i]));
    column.least = std::max(part, column.numbers || cells <= whole ? cells : narrow);
    total += column.width;
  }
  // The widest of those that can be narrower gives way, column by column.
  for (; total > columns; --total) {
    Column* widest = nullptr;
    for (Column& column : layout)
      if (column.width > column.least && (widest == nullptr || column.width > widest->width))
        widest = &column;
    if (widest == nullptr) break;
    --widest->width;
  }
  return layout;
}

// One row; as many lines as its longest cell.
std::string lines_of(const std::vector<std::string>& row, const std::vector<Column>& layout) {
  std::vector<std::string> lines;
  size_t place = 0;  // where the column begins
  for (size_t i = 0; i < row.size(); ++i) {
    const std::vector<std::string> cell = wrapped(row[i], layout[i].width);
    lines.resize(std::max(lines.size(), cell.size()));
    for (size_t k = 0; k < cell.size(); ++k) {
      lines[k].append(place - display_width(lines[k]), ' ');
      lines[k] += padded(cell[k], layout[i].width, layout[i].numbers);
    }
    place += layout[i].width + 2;
  }
  std::string text;
  for (const std::string& line : lines) text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  return text;
}

// What COLUMNS says; 0: nothing that is a width.
size_t columns_of_environment() {
  const char* text = std::getenv("COLUMNS");
  size_t columns = 0;
  if (text == nullptr) return 0;
  const char* end = text + std::strlen(text);
  const auto [read, error] = std::from_chars(text, end, columns);
  return error == std::errc() && read == end && columns <= 10000 ? columns : 0;
}

// How much of a word that is longer than a line goes onto it, in bytes.
size_t break_in(const std::string& word, size_t columns) {
  const size_t most = cut(word, columns).size(), comma = word.rfind(',', most - 1);
  return comma == std::string::npos ? most : comma + 1;
}

void add_wrapped(const std::string& paragraph, size_t columns, std::vector<std::string>& lines) {
  std::string line;
  size_t at = 0;
  do {
    const size_t end = word_end(paragraph, at);
    std::string word = paragraph.substr(at, end - at);
    at = end + 1;
    if (!line.empty() && display_width(line) + 1 + display_width(word) > columns) {
      lines.push_back(line);
      line.clear();
    }
    while (display_width(word) > columns) {
      const size_t taken = break_in(word, columns);
      lines.push_back(word.substr(0, taken));
      word.erase(0, taken);
    }
    line += (line.empty() ? "" : " ") + word;
  } while (at < paragraph.size());
  lines.push_back(line);
}

}  // namespace

Table::Table(std::vector<std::string> heading, std::string columns) : columns_(std::move(columns)) {
  const bool letters = columns_.find_first_not_of("lr") == std::string::npos;
  check(letters && columns_.size() == heading.size(), "table: wanted l or r for each of {} columns, got '{}'",
        heading.size(), columns_);
  rows_.push_back(std::move(heading));
}

void Table::row(std::vector<std::string> cells) {
  check(cells.size() == rows_[0].size(), "table: wanted {} cells, got {}", rows_[0].size(), cells.size());
  rows_.push_back(std::move(cells));
}

std::string Table::text(size_t columns) const {
  const std::vector<Column> layout =
      layout_of(rows_, columns_, columns > 0 ? columns : terminal_size(stdout).columns);
  std::string text;
  for (size_t i = 0; i < rows_.size(); ++i) {
    text += lines_of(rows_[i], layout);
    if (i > 0) continue;
    std::string rule;
    for (const Column& column : layout) {
      if (!rule.empty()) rule += "  ";
      for (size_t k = 0; k < column.width; ++k) rule += "─";
    }
    text += rule + "\n";
  }
  return text;
}

bool is_terminal(std::FILE* stream) { return isatty(fileno(stream)) != 0; }

TerminalSize terminal_size(std::FILE* stream) {
  winsize size{};
  TerminalSize result;
  if (ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_row > 0 && size.ws_col > 0)
    result = {size.ws_row, size.ws_col};
  if (const size_t columns = columns_of_environment(); columns > 0) result.columns = columns;
  return result;
}

std::string cut(const std::string& text, size_t columns) {
  size_t end = 0, shown = 0;
  for (; end < text.size(); ++end)
    if ((text[end] & 0xC0) != 0x80 && shown++ == columns) break;  // a code point begins
  return text.substr(0, end);
}

size_t word_end(std::string_view text, size_t at) {
  for (size_t end = at; end < text.size(); ++end) {
    if (text[end] == ' ') return end;
    const bool numbers =
        text[end] == '[' && end + 1 < text.size() && std::strchr("-.0123456789", text[end + 1]);
    if (const size_t close = text.find(']', end); numbers && close != std::string_view::npos) end = close;
  }
  return text.size();
}

std::vector<std::string> wrapped(std::string_view text, size_t columns) {
  std::vector<std::string> lines;
  size_t at = 0;
  do {
    const size_t end = std::min(text.find('\n', at), text.size());
    add_wrapped(std::string(text.substr(at, end - at)), std::max<size_t>(columns, 1), lines);
    at = end + 1;
  } while (at < text.size());
  return lines;
}

size_t display_width(std::string_view text) {
  // Every byte but a continuation byte (10xxxxxx) begins a code point.
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace isobar
