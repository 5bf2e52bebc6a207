#include "chart.h"

#include <algorithm>
#include <cmath>

#include "../../core/error.h"
#include "lists.h"
#include "table.h"

namespace isobar {
namespace {

// Whole powers of ten around all positive finite values.
struct Scale {
  double low = 0, high = 1;  // exponents
  size_t width;

  // The column of a value; zero is left of all, infinity right of all.
  size_t column(double value) const {
    if (value <= 0) return 0;
    if (std::isinf(value)) return width - 1;
    const double part = (std::log10(value) - low) / (high - low);
    return static_cast<size_t>(std::lround(std::clamp(part, 0.0, 1.0) * static_cast<double>(width - 1)));
  }
};

Scale scale_of(const std::vector<ChartRow>& rows, size_t width) {
  Scale scale{.low = INFINITY, .high = -INFINITY, .width = width};
  for (const ChartRow& row : rows)
    for (const double value : {row.measured, row.theory})
      if (value > 0 && std::isfinite(value)) {
        scale.low = std::min(scale.low, std::floor(std::log10(value)));
        scale.high = std::max(scale.high, std::ceil(std::log10(value)));
      }
  if (scale.low > scale.high) return {.low = 0, .high = 1, .width = width};
  if (scale.low == scale.high) scale.high += 1;
  return scale;
}

const char* mark_of(double value, const char* usual) {
  if (value == 0) return "◂";
  return std::isinf(value) ? "▸" : usual;
}

std::string drawn(const ChartRow& row, const Scale& scale) {
  std::vector<std::string> cells(scale.width, " ");
  const bool theory = row.theory >= 0, measured = row.measured >= 0;  // false for NaN
  if (theory) cells[scale.column(row.theory)] = mark_of(row.theory, "○");
  if (measured) {
    std::string& cell = cells[scale.column(row.measured)];
    cell = mark_of(row.measured, cell == "○" ? "◉" : "●");
  }
  std::string line;
  for (const std::string& cell : cells) line += cell;
  return line;
}

}  // namespace

std::string log_chart(const std::string& title, const std::vector<ChartRow>& rows, size_t max_rows,
                      size_t width) {
  check(max_rows >= 2 && width >= 16, "log_chart: wanted at least 2 rows and 16 columns, got {} and {}",
        max_rows, width);
  const Scale scale = scale_of(rows, width);
  size_t label_width = 0;
  for (const ChartRow& row : rows) label_width = std::max(label_width, display_width(row.label));

  const bool any_theory =
      std::any_of(rows.begin(), rows.end(), [](const ChartRow& row) { return row.theory >= 0; });
  const std::string low = fmt::format("1e{}", std::lround(scale.low)),
                    high = fmt::format("1e{}", std::lround(scale.high));
  std::string text =
      fmt::format("{}  {}\n", title, any_theory ? "● measured  ○ theory  ◉ both" : "● measured");
  text += std::string(label_width + 2, ' ') + low + std::string(width - low.size() - high.size(), ' ') +
          high + "\n";

  for (const size_t i : evenly_chosen(rows.size(), max_rows)) {
    const ChartRow& row = rows[i];
    text += fmt::format("{}{} │{}│ {}\n", std::string(label_width - display_width(row.label), ' '), row.label,
                        drawn(row, scale), number_text(row.measured));
  }
  return text;
}

}  // namespace isobar
