#include "view.h"

#include <fmt/ranges.h>

#include <sstream>

#include "../../../data/utf8_stream.h"
#include "../../page/charts/shapes.h"
#include "../../run/lists.h"
#include "../../run/text_chart.h"

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

constexpr size_t number_width = 9, factor_width = 9, least_spark = 6, most_spark = 16, gap = 2,
                 share_width = 11;

using Modules = std::vector<const ModuleHistory*>;

Modules that_fit(const std::vector<ModuleHistory>& all, size_t rows) {
  const auto kept = [&](const auto& wanted) {
    Modules chosen;
    for (const ModuleHistory& module : all)
      if (module.type != "Dropout" && wanted(module)) chosen.push_back(&module);
    return chosen;
  };
  Modules chosen = kept([](const ModuleHistory&) { return true; });
  if (chosen.size() > rows) chosen = kept([](const ModuleHistory& m) { return depth_of(m.path) <= 2; });
  if (chosen.size() > rows)
    chosen = kept([](const ModuleHistory& m) { return on_the_stream(m.path, m.type); });
  if (chosen.size() <= rows) return chosen;
  Modules some;
  for (const size_t i : evenly_chosen(chosen.size(), rows)) some.push_back(chosen[i]);
  return some;
}

std::string right(const std::string& text, size_t width) {
  const size_t taken = display_width(text);
  return std::string(width > taken ? width - taken : 0, ' ') + text;
}

std::string number(double value) { return std::isnan(value) ? "–" : fmt::format("{:.3g}", value); }

// "×0.5"; "–" where there is no such factor.
std::string factor(double first, double now) {
  const double times = now / first;
  return std::isfinite(times) && times > 0 ? fmt::format("×{:.3g}", times) : "–";
}

// What a line shows of a quantity, as many columns as there are for it.
struct Cells {
  bool first;
  size_t spark;  // 0: none

  explicit Cells(size_t columns) {
    const size_t least = number_width + factor_width;
    first = columns >= least + number_width;
    const size_t rest = first ? columns - least - number_width : 0;
    spark = rest >= least_spark + gap ? std::min(rest - gap, most_spark) : 0;
  }
  size_t width() const {
    return (first ? number_width : 0) + number_width + factor_width + (spark > 0 ? gap + spark : 0);
  }
  std::string heading() const {
    return (first ? right("first", number_width) : "") + right("now", number_width) +
           std::string(width() - (first ? 2 : 1) * number_width, ' ');
  }
  std::string line(const std::vector<double>& values) const {
    std::string text = (first ? right(number(values.front()), number_width) : "") +
                       right(number(values.back()), number_width) +
                       right(factor(values.front(), values.back()), factor_width);
    if (spark == 0) return text;
    const std::string drawn = sparkline(values, spark);
    return text + std::string(gap, ' ') + drawn + std::string(spark - display_width(drawn), ' ');
  }
};

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

std::string metric_charts(const RunWatch& run, size_t rows, size_t columns) {
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

std::string within(const std::string& text, size_t columns) {
  std::string all;
  for (const std::string& line : lines_of(text)) all += cut(line, columns) + "\n";
  return all;
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
  text += fmt::format("\n{}", metric_charts(run, room - of_modules, size.columns));
  if (!modules.empty()) text += "\n" + modules;

  std::vector<std::string> lines = lines_of(text);
  lines.resize(std::min(lines.size(), size.rows - 1));
  return within(fmt::format("{}\n", fmt::join(lines, "\n")), size.columns);
}

std::string sparkline(const std::vector<double>& values, size_t columns) {
  static const char* const blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  std::vector<double> logs;
  for (const size_t i : evenly_chosen(values.size(), columns))
    logs.push_back(values[i] > 0 ? std::log(values[i]) : std::nan(""));
  charts::Ends ends;
  for (const double log : logs)
    if (std::isfinite(log)) ends.include(log);
  std::string text;
  for (const double log : logs) {
    if (std::isinf(log)) {
      text += "↑";
      continue;
    }
    // Where nothing moves, all stand in the middle.
    const double height = ends.high > ends.low ? (log - ends.low) / (ends.high - ends.low) : 0.5;
    text += std::isnan(log) ? " " : blocks[static_cast<size_t>(std::lround(height * 7))];
  }
  return text;
}

std::string module_table(const std::vector<ModuleHistory>& modules, size_t rows, size_t columns) {
  constexpr size_t heading = 2;
  if (modules.empty() || rows <= heading) return "";
  const Modules chosen = that_fit(modules, rows - heading);
  size_t name = 0;
  for (const ModuleHistory* module : chosen) name = std::max(name, display_width(module->path));
  // Shares of the output now, where there is room beside first and last values.
  const bool shares = !chosen.empty() && !chosen.front()->zeros.empty() &&
                      columns >= name + 2 * (gap + 2 * number_width + factor_width) + 2 * share_width;
  const size_t taken = name + 2 * gap + (shares ? 2 * share_width : 0);
  const Cells cells(columns > taken ? (columns - taken) / 2 : 0);
  const auto line = [&](const std::string& first, const std::string& std, const std::string& gradient,
                        const std::string& zeros = "", const std::string& saturated = "") {
    std::string text = first + std::string(name - std::min(name, display_width(first)) + gap, ' ') + std +
                       std::string(gap, ' ') + gradient;
    if (shares) text += right(zeros, share_width) + right(saturated, share_width);
    return cut(text.substr(0, text.find_last_not_of(' ') + 1), columns) + "\n";
  };
  const size_t drawn = cells.spark > 0 ? gap + cells.spark : 0;
  const auto title = [&](const char* quantity) {
    return right(quantity, cells.width() - drawn) + std::string(drawn, ' ');
  };
  std::string text = line("", title("std"), title("gradient norm")) +
                     line("module", cells.heading(), cells.heading(), "zeros", "saturated");
  for (const ModuleHistory* module : chosen)
    text += line(module->path, cells.line(module->std), cells.line(module->gradient),
                 shares ? percent_text(module->zeros.back()) : "",
                 shares ? percent_text(module->saturated.back()) : "");
  return text;
}

}  // namespace isobar
