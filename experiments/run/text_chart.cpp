#include "text_chart.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "../../core/error.h"
#include "../page/charts/shapes.h"
#include "lists.h"
#include "table.h"

namespace isobar {
namespace {

using charts::Ends;
using charts::Scale;

// The place among `count` that is nearest.
size_t nearest_place(const Scale& scale, double value, size_t count) {
  return static_cast<size_t>(std::lround(std::clamp(scale(value), 0.0, static_cast<double>(count - 1))));
}

// Over the columns, from the power of ten below all positive finite values to that above them.
Scale decades_of(const std::vector<ChartRow>& rows, size_t width) {
  Ends powers;
  for (const ChartRow& row : rows)
    for (const double value : {row.measured, row.theory})
      if (value > 0 && std::isfinite(value))
        for (const double power : {std::floor(std::log10(value)), std::ceil(std::log10(value))})
          powers.include(power);
  if (powers.none()) powers = {0, 0};
  const double high = std::max(powers.high, powers.low + 1);
  return {std::pow(10, powers.low), std::pow(10, high), 0, static_cast<double>(width - 1), true};
}

const char* mark_of(double value, const char* usual) {
  if (value == 0) return "◂";
  return std::isinf(value) ? "▸" : usual;
}

std::string drawn(const ChartRow& row, const Scale& scale, size_t width) {
  std::vector<std::string> cells(width, " ");
  // Zero is left of all, infinity right of all.
  const auto column = [&](double value) {
    return value <= 0 ? 0 : std::isinf(value) ? width - 1 : nearest_place(scale, value, width);
  };
  const bool theory = row.theory >= 0, measured = row.measured >= 0;  // false for NaN
  if (theory) cells[column(row.theory)] = mark_of(row.theory, "○");
  if (measured) {
    std::string& cell = cells[column(row.measured)];
    cell = mark_of(row.measured, cell == "○" ? "◉" : "●");
  }
  std::string line;
  for (const std::string& cell : cells) line += cell;
  return line;
}

void include_finite(Ends& ends, const std::vector<double>& values) {
  for (const double value : values)
    if (std::isfinite(value)) ends.include(value);
}
// Over `count` places; in the middle where there is one value.
Scale over(const Ends& ends, size_t count) {
  return {ends.low, ends.high, 0, static_cast<double>(count - 1)};
}

// Characters of 2 × 4 dots each, and others in their place.
class Canvas {
 public:
  Canvas(size_t rows, size_t columns) : columns_(columns), dots_(rows * columns, 0), marks_(dots_.size()) {}

  // Counted from the left and from the top.
  void dot(size_t x, size_t y) {
    constexpr unsigned bits[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};  // Unicode 21.1
    dots_[y / 4 * columns_ + x / 2] |= bits[y % 4][x % 2];
  }
  void mark(size_t column, size_t row, const std::string& text) { marks_[row * columns_ + column] = text; }

  std::string row(size_t row) const {
    std::string text;
    for (size_t i = row * columns_; i < (row + 1) * columns_; ++i) {
      if (!marks_[i].empty())
        text += marks_[i];
      else if (dots_[i] == 0)
        text += ' ';
      else  // U+2800 and the dots, in UTF-8
        text += {'\xE2', static_cast<char>(0xA0 + dots_[i] / 64), static_cast<char>(0x80 + dots_[i] % 64)};
    }
    return text;
  }

 private:
  size_t columns_;
  std::vector<unsigned> dots_;
  std::vector<std::string> marks_;
};

// The mean of the values in each of `count` places; NaN where there are none.
std::vector<double> means(const ChartCurve& curve, const Scale& x, size_t count) {
  std::vector<double> sums(count, 0);
  std::vector<int64_t> values(count, 0);
  for (size_t i = 0; i < curve.x.size(); ++i) {
    if (std::isnan(curve.y[i])) continue;
    const size_t place = nearest_place(x, curve.x[i], count);
    sums[place] += curve.y[i];
    ++values[place];
  }
  for (size_t i = 0; i < count; ++i) sums[i] /= static_cast<double>(values[i]);
  return sums;
}

}  // namespace

std::string log_chart(const std::string& title, const std::vector<ChartRow>& rows, size_t max_rows,
                      size_t width) {
  check(max_rows >= 2 && width >= 16, "log_chart: wanted at least 2 rows and 16 columns, got {} and {}",
        max_rows, width);
  const Scale scale = decades_of(rows, width);
  size_t label_width = 0;
  for (const ChartRow& row : rows) label_width = std::max(label_width, display_width(row.label));

  const bool any_theory =
      std::any_of(rows.begin(), rows.end(), [](const ChartRow& row) { return row.theory >= 0; });
  const std::string low = fmt::format("1e{}", std::lround(std::log10(scale.low))),
                    high = fmt::format("1e{}", std::lround(std::log10(scale.high)));
  std::string text =
      fmt::format("{}  {}\n", title, any_theory ? "● measured  ○ theory  ◉ both" : "● measured");
  text += std::string(label_width + 2, ' ') + low + std::string(width - low.size() - high.size(), ' ') +
          high + "\n";

  for (const size_t i : evenly_chosen(rows.size(), max_rows)) {
    const ChartRow& row = rows[i];
    text += fmt::format("{}{} │{}│ {}\n", std::string(label_width - display_width(row.label), ' '), row.label,
                        drawn(row, scale, width), number_text(row.measured));
  }
  return text;
}

std::string line_chart(const std::string& title, const ChartCurve& curve, const ChartCurve& points,
                       size_t rows, size_t columns) {
  check(rows >= 1 && columns >= 2, "line_chart: wanted at least 1 row and 2 columns, got {} and {}", rows,
        columns);
  Ends x, y;
  for (const ChartCurve* part : {&curve, &points}) {
    include_finite(x, part->x);
    include_finite(y, part->y);
  }
  Canvas canvas(rows, columns);
  const std::vector<double> heights = means(curve, over(x, 2 * columns), 2 * columns);
  const size_t dot_rows = 4 * rows, nowhere = 2 * columns;
  const auto infinite = [&](size_t column, double value) {
    canvas.mark(column, value > 0 ? 0 : rows - 1, value > 0 ? "▴" : "▾");
  };
  const Scale dots = over(y, dot_rows);
  for (size_t i = 0, last = nowhere; i < heights.size(); ++i) {
    if (std::isnan(heights[i])) continue;
    if (std::isinf(heights[i])) {
      infinite(i / 2, heights[i]);
      last = nowhere;
      continue;
    }
    // A line from the value before, with no gap where it is steep.
    const size_t from = last == nowhere ? i : last;
    const double begin = heights[from],
                 slope = i == from ? 0 : (heights[i] - begin) / static_cast<double>(i - from);
    for (size_t at = from; at <= i; ++at) {
      const double before = begin + slope * std::max(0.0, static_cast<double>(at - from) - 1),
                   here = begin + slope * static_cast<double>(at - from);
      size_t top = dot_rows - 1 - nearest_place(dots, std::max(before, here), dot_rows);
      const size_t bottom = dot_rows - 1 - nearest_place(dots, std::min(before, here), dot_rows);
      for (; top <= bottom; ++top) canvas.dot(at, top);
    }
    last = i;
  }
  for (size_t i = 0; i < points.x.size(); ++i) {
    const size_t column = nearest_place(over(x, columns), points.x[i], columns);
    if (std::isfinite(points.y[i]))
      canvas.mark(column, rows - 1 - nearest_place(over(y, rows), points.y[i], rows), "○");
    else if (std::isinf(points.y[i]))
      infinite(column, points.y[i]);
  }

  const bool empty = y.none();
  const std::string high = empty ? "–" : number_text(y.high), low = empty ? "–" : number_text(y.low);
  const size_t label_width = std::max(display_width(high), display_width(low));
  std::string text = title + "\n";
  for (size_t row = 0; row < rows; ++row) {
    const std::string label = row == 0 ? high : row + 1 == rows ? low : "";
    text += fmt::format("{}{} {}{}\n", std::string(label_width - display_width(label), ' '), label,
                        label.empty() ? "│" : "┤", canvas.row(row));
  }
  if (empty) return text;
  const std::string first = fmt::format("{}", x.low), end = fmt::format("{}", x.high);
  const size_t gap = columns > first.size() + end.size() ? columns - first.size() - end.size() : 1;
  return text + std::string(label_width + 2, ' ') + first + std::string(gap, ' ') + end + "\n";
}

}  // namespace isobar
