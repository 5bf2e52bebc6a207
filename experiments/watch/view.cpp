#include "view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "../../data/utf8_stream.h"
#include "../harness/lists.h"
#include "../harness/progress.h"
#include "../harness/table.h"
#include "../harness/text_chart.h"
#include "module_table.h"

namespace isobar {
namespace {

constexpr size_t cell_width = 9;
constexpr size_t longest_name = 40;  // of a metric

std::string line_of(const std::vector<std::string>& cells, const std::vector<std::string>& names) {
  std::string line;
  for (size_t i = 0; i < cells.size(); ++i) {
    const size_t width = std::max(cell_width, display_width(names[i])), taken = display_width(cells[i]);
    line.append((i > 0 ? 2 : 0) + (width > taken ? width - taken : 0), ' ');
    line += cells[i];
  }
  return line + "\n";
}

std::vector<std::string> names_of(const RunWatch& run) {
  std::vector<std::string> names = {"step"};
  for (const MetricsLog::Column& column : run.log().columns())
    names.push_back(one_line(column.name, longest_name));
  names.insert(names.end(), {"tokens/s", "ETA"});
  return names;
}

const MetricsLog::Column* find(const RunWatch& run, const std::string& name) {
  for (const MetricsLog::Column& column : run.log().columns())
    if (column.name == name) return &column;
  return nullptr;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// Blocks of lines beside each other, each `width` columns wide.
std::string beside(const std::vector<std::string>& blocks, size_t width) {
  std::vector<std::string> lines;
  for (size_t i = 0; i < blocks.size(); ++i) {
    const std::vector<std::string> more = lines_of(blocks[i]);
    lines.resize(std::max(lines.size(), more.size()));
    for (size_t row = 0; row < more.size(); ++row)
      lines[row] += std::string(i * width - std::min(i * width, display_width(lines[row])), ' ') + more[row];
  }
  return fmt::format("{}\n", fmt::join(lines, "\n"));
}

std::string bar(const RunWatch& run, size_t columns) {
  const int64_t done = run.steps_done();
  if (run.total_steps() == 0) return fmt::format("{} steps", done);
  const double rate = run.steps_per_second();
  if (std::isnan(rate)) return progress_bar({done, run.total_steps(), "steps", 0, "", done}, columns);
  // One step and its time stand for all that were seen.
  return progress_bar({done, run.total_steps(), "steps", 1 / rate, "", done - 1}, columns);
}

}  // namespace

std::string table_heading(const RunWatch& run) { return line_of(names_of(run), names_of(run)); }

std::string table_row(const RunWatch& run, size_t index) {
  std::vector<std::string> cells = {fmt::format("{}", run.log().steps()[index])};
  for (const MetricsLog::Column& column : run.log().columns()) {
    size_t last = index;
    while (last > 0 && std::isnan(column.values[last])) --last;
    cells.push_back(number_or_dash(column.values[last]));
  }
  const bool now = index + 1 == run.log().steps().size();
  const double tokens = now ? run.tokens_per_second() : std::nan(""),
               left = now ? run.seconds_left() : std::nan("");
  cells.push_back(std::isnan(tokens) ? "–" : fmt::format("{:.0f}", tokens));
  cells.push_back(std::isfinite(left) ? clock_text(left) : "–");
  return line_of(cells, names_of(run));
}

std::vector<size_t> chosen_steps(const RunWatch& run, size_t count) {
  return evenly_chosen(run.log().steps().size(), count);
}

std::string charts(const RunWatch& run, size_t rows, size_t columns) {
  constexpr size_t frame = 2, label = 12, least = 20;  // title and steps; the numbers at the axis
  std::vector<const MetricsLog::Column*> curves;
  for (const MetricsLog::Column& column : run.log().columns())
    if (!column.name.starts_with("val_") || find(run, column.name.substr(4)) == nullptr)
      curves.push_back(&column);
  if (curves.empty()) return "";
  const size_t across = std::clamp<size_t>(columns / (label + least), 1, std::min<size_t>(2, curves.size()));
  const size_t down = (curves.size() + across - 1) / across, width = columns / across;
  const size_t height = std::clamp<size_t>(rows / down, frame + 2, frame + 12) - frame;
  std::string text;
  for (size_t i = 0; i < curves.size(); i += across) {
    std::vector<std::string> blocks;
    for (size_t j = i; j < std::min(i + across, curves.size()); ++j) {
      const MetricsLog::Column* points = find(run, "val_" + curves[j]->name);
      ChartCurve marks;
      if (points != nullptr) marks = {run.log().steps(), points->values};
      blocks.push_back(line_chart(
          one_line(curves[j]->name, longest_name) +
              (points != nullptr ? "  ○ " + one_line(points->name, longest_name) : ""),
          {run.log().steps(), curves[j]->values}, marks, height, std::max(width, label + least) - label));
    }
    text += beside(blocks, width);
  }
  return text;
}

std::string screen(const RunWatch& run, const std::string& title, const std::vector<std::string>& rows,
                   TerminalSize size) {
  constexpr size_t tall = 40;
  const size_t most_rows = run.modules().empty() || size.rows >= tall ? 5 : 2;
  std::string text = fmt::format("{}\n{}\n{}", title, bar(run, size.columns - 1), table_heading(run));
  for (size_t i = rows.size() - std::min(most_rows, rows.size()); i < rows.size(); ++i) text += rows[i];
  const size_t taken = lines_of(text).size() + 2;  // an empty line, and that of the cursor
  const size_t room = size.rows > taken ? size.rows - taken : 0;
  const std::string modules = module_table(run.modules(), room / 2, size.columns);
  const size_t of_modules = modules.empty() ? 0 : lines_of(modules).size() + 1;  // with an empty line
  text += fmt::format("\n{}", charts(run, room - of_modules, size.columns));
  if (!modules.empty()) text += "\n" + modules;

  std::vector<std::string> lines = lines_of(text);
  lines.resize(std::min(lines.size(), size.rows - 1));
  for (std::string& line : lines) line = cut(line, size.columns);
  return fmt::format("{}\n", fmt::join(lines, "\n"));
}

}  // namespace isobar
