#include "table.h"

#include <algorithm>
#include <cmath>

#include "../../core/error.h"
#include "stats.h"

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

std::vector<Column> layout_of(const std::vector<std::vector<std::string>>& rows, size_t columns) {
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
    column.numbers =
        std::all_of(rows.begin() + 1, rows.end(), [&](const auto& row) { return numeric(row[i]); });
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

}  // namespace

Table::Table(std::vector<std::string> heading) { rows_.push_back(std::move(heading)); }

void Table::row(std::vector<std::string> cells) {
  check(cells.size() == rows_[0].size(), "table: wanted {} cells, got {}", rows_[0].size(), cells.size());
  rows_.push_back(std::move(cells));
}

std::string Table::text(size_t columns) const {
  const std::vector<Column> layout = layout_of(rows_, columns > 0 ? columns : terminal_size(stdout).columns);
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

std::string number_text(double value) { return fmt::format("{:.4g}", value); }
std::string percent_text(double share) {
  return std::isnan(share) ? "–" : fmt::format("{:.3g} %", 100 * share);
}
std::string number_or_dash(double value) { return std::isnan(value) ? "–" : number_text(value); }

std::string spread_text(const Spread& spread) {
  if (std::isnan(spread.median)) return "not finite";
  std::string text = number_text(spread.median);
  if (spread.min != spread.max)
    text += fmt::format(" [{}, {}]", number_text(spread.min), number_text(spread.max));
  return spread.nonfinite == 0 ? text : fmt::format("{}, {} not finite", text, spread.nonfinite);
}

}  // namespace isobar
