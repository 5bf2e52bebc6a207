#include "module_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "../harness/lists.h"
#include "../harness/table.h"
#include "../harness/terminal.h"

namespace isobar {
namespace {

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

std::string sparkline(const std::vector<double>& values, size_t columns) {
  static const char* const blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  std::vector<double> logs;
  for (const size_t i : evenly_chosen(values.size(), columns))
    logs.push_back(values[i] > 0 && std::isfinite(values[i]) ? std::log(values[i]) : std::nan(""));
  double least = INFINITY, greatest = -INFINITY;
  for (const double log : logs)
    if (!std::isnan(log)) least = std::min(least, log), greatest = std::max(greatest, log);
  std::string text;
  for (const double log : logs) {
    // Where nothing moves, all stand in the middle.
    const double height = greatest > least ? (log - least) / (greatest - least) : 0.5;
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
