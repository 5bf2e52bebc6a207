#include "table.h"

#include <algorithm>

#include "../../core/error.h"

namespace isobar {
namespace {

bool numeric(const std::string& cell) {
  if (cell.empty() || cell == "–" || cell == "inf" || cell == "-inf" || cell == "nan") return true;
  const size_t first = cell[0] == '-' || cell[0] == '+' ? 1 : 0;
  return first < cell.size() && cell[first] >= '0' && cell[first] <= '9';
}

std::string padded(const std::string& cell, size_t width, bool right) {
  const std::string space(width - display_width(cell), ' ');
  return right ? space + cell : cell + space;
}

}  // namespace

Table::Table(std::vector<std::string> heading) { rows_.push_back(std::move(heading)); }

void Table::row(std::vector<std::string> cells) {
  check(cells.size() == rows_[0].size(), "table: wanted {} cells, got {}", rows_[0].size(), cells.size());
  rows_.push_back(std::move(cells));
}

std::string Table::text() const {
  std::vector<std::string> lines(rows_.size() + 1);  // one more: the rule
  for (size_t column = 0; column < rows_[0].size(); ++column) {
    size_t width = 0;
    for (const auto& row : rows_) width = std::max(width, display_width(row[column]));
    const bool right =
        std::all_of(rows_.begin() + 1, rows_.end(), [&](const auto& row) { return numeric(row[column]); });
    std::string rule;
    for (size_t i = 0; i < width; ++i) rule += "─";
    for (size_t line = 0; line < lines.size(); ++line) {
      if (column > 0) lines[line] += "  ";
      if (line == 1)
        lines[line] += rule;
      else
        lines[line] += padded(rows_[line == 0 ? 0 : line - 1][column], width, right);
    }
  }
  std::string text;
  for (std::string& line : lines) text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  return text;
}

std::string number_text(double value) { return fmt::format("{:.4g}", value); }

size_t display_width(std::string_view text) {
  // Every byte but a continuation byte (10xxxxxx) begins a code point.
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace isobar
