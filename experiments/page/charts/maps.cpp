// What a training shows of its modules: heatmaps over the steps, and ridges of their values.
#include <array>

#include "charts.h"

namespace isobar::charts {
namespace {

// Dark blue over green to yellow, evenly lighter: stops of viridis. In 44 shades, for `share` in [0, 1].
constexpr int shades = 44;
std::string shade(int index) {
  constexpr std::array<std::array<double, 3>, 5> stops = {
      {{68, 1, 84}, {59, 82, 139}, {33, 145, 140}, {94, 201, 98}, {253, 231, 37}}};
  const double place = index * 4.0 / (shades - 1);
  const size_t i = std::min<size_t>(static_cast<size_t>(place), 3);
  std::string text = "fill:rgb(";
  for (size_t c = 0; c < 3; ++c)
    text += (c == 0 ? "" : " ") +
            at(std::round(std::lerp(stops[i][c], stops[i + 1][c], place - static_cast<double>(i))));
  return text + ")";
}

double widest(const std::vector<std::string>& names) {
  double width = 0;
  for (const std::string& name : names) width = std::max(width, text_width(name));
  return width;
}

// Where a value stands among the edges of the bins, in bins.
double bin_of(const std::vector<double>& edges, double value) {
  size_t i = 0;
  while (i + 2 < edges.size() && edges[i + 1] <= value) ++i;
  const double a = edges[i], b = edges[i + 1];
  const bool even = value == 0 || a == 0 || b == 0;
  return static_cast<double>(i) + (even ? 0 : std::log(value / a) / std::log(b / a));
}

}  // namespace

Drawing heat_map(const Heatmap& map, const Look& look) {
  Ends ends;
  const auto usable = [&](double value) { return std::isfinite(value) && !(map.log && value <= 0); };
  for (const std::vector<double>& row : map.values)
    for (const double value : row)
      if (usable(value)) ends.include(value);
  if (ends.none()) return {};
  constexpr double step = 16;
  const Scale place(ends.low, ends.high, 0, shades - 1, map.log);
  const double left = std::min(look.width * 0.38, widest(map.rows) + 10),
               bottom = static_cast<double>(map.rows.size()) * step,
               columns = static_cast<double>(map.columns.size()), cell = (look.width - left - 4) / columns;
  Markup svg;
  std::array<std::string, shades> cells;  // of one shade: a path
  std::string infinite;
  for (size_t r = 0; r < map.rows.size(); ++r) {
    const double y = static_cast<double>(r) * step;
    svg += words("tick", left - 6, y + 12, "end", map.rows[r]);
    for (size_t c = 0; c < map.values[r].size(); ++c) {
      if (std::isinf(map.values[r][c]))
        infinite += box(left + static_cast<double>(c) * cell, y, cell + 0.3, 15);
      const double share = usable(map.values[r][c]) ? std::round(place(map.values[r][c])) : -1;
      if (share < 0) continue;
      cells[std::min<size_t>(static_cast<size_t>(share), shades - 1)] +=
          box(left + static_cast<double>(c) * cell, y, cell + 0.3, 15);
    }
  }
  for (int i = 0; i < shades; ++i)
    if (!cells[static_cast<size_t>(i)].empty()) svg += path("cells", cells[static_cast<size_t>(i)], shade(i));
  if (!infinite.empty()) svg += path("cells", infinite, "fill:var(--bad)");
  const auto column = [&](double value) { return map.x + " " + tick_text(value); };
  svg += words("tick", left, bottom + 14, "", column(map.columns.front()));
  if (map.columns.size() > 1)
    svg += words("tick", look.width - 4, bottom + 14, "end", column(map.columns.back()));
  const double bar = std::min(220.0, look.width - left - 120), slice = bar / shades;
  for (int i = 0; i < shades; ++i)
    svg += path("cells", box(left + 60 + i * slice, bottom + 30, slice + 0.4, 10), shade(i));
  svg += words("tick", left + 54, bottom + 39, "end", number(ends.low, 2));
  svg += words("tick", left + bar + 66, bottom + 39, "", number(ends.high, 2));
  svg += words("axis", left + 60, bottom + 56, "", map.value);
  if (!infinite.empty()) {
    svg += path("cells", box(left, bottom + 46, 10, 10), "fill:var(--bad)");
    svg += words("tick", left + 15, bottom + 56, "", {"infinite", "无穷"});
  }
  svg += path("rule", "");
  return {
      "chart",
      look.width,
      bottom + 62,
      map.title + ": " + number(ends.low) + " … " + number(ends.high),
      svg,
      {{"data-x", "0 " + exact(columns) + " " + at(left + cell / 2) + " " + at(look.width - 4 + cell / 2)},
       {"data-y", "0 " + at(bottom)},
       {"data-step", at(step)}}};
}

// For each module the shares of its values by size, on a logarithmic scale with zero in the middle.
Drawing ridge_chart(const Ridges& data, const Look& look) {
  if (data.modules.empty() || data.steps.empty() || data.edges.size() < 2) return {};
  constexpr double step = 34, peak = 50, top = peak;
  const size_t bins = data.edges.size() - 1;
  const double width = look.width, bottom = top + static_cast<double>(data.modules.size()) * step,
               left = std::min(width * 0.36, widest(data.modules) + 12), right = width - 52;
  // As much of the scale as has values, the same on either side of zero.
  size_t first = bins, last = 0;
  for (const auto& of_step : data.shares)
    for (const std::vector<double>& module : of_step)
      for (size_t bin = 0; bin < bins; ++bin)
        if (module[bin] > 1e-4) {
          first = std::min(first, bin);
          last = std::max(last, bin);
        }
  const size_t unused = first > last ? 0 : std::min(first, bins - 1 - last), margin = unused - (unused > 0);
  const Scale x(static_cast<double>(margin), static_cast<double>(bins - margin), left, right);
  Markup svg;
  const double largest = std::floor(std::log10(data.edges[bins - margin])), apart = width < 520 ? 4 : 2;
  std::vector<double> marks = {0};
  for (int i = 0; i < 3; ++i) {
    const double decade = std::pow(10, largest - i * apart);
    marks.insert(marks.end(), {-decade, decade});
  }
  std::sort(marks.begin(), marks.end());
  for (double free = -HUGE_VAL; const double v : marks) {
    const double place = x(bin_of(data.edges, v)), half = text_width(tick_text(v)) / 2;
    if (place - half < free) continue;
    free = place + half + 6;
    svg += path("grid", "M" + at(place) + " " + at(top - 26) + "V" + at(bottom));
    svg += words("tick", place, bottom + 17, "middle", tick_text(v));
  }
  svg += words("axis", width - 2, 13, "end", {"zeros", "零"});
  for (size_t m = 0; m < data.modules.size(); ++m) {
    const double base = top + static_cast<double>(m + 1) * step - 8;
    double most = 1e-12;
    for (const auto& of_step : data.shares)
      most = std::max(most, *std::max_element(of_step[m].begin() + static_cast<ptrdiff_t>(margin),
                                              of_step[m].end() - static_cast<ptrdiff_t>(margin)));
    const auto outline = [&](const auto& of_step) {
      std::vector<std::pair<double, double>> points;
      for (size_t bin = margin; bin < bins - margin; ++bin)
        points.emplace_back(x(static_cast<double>(bin) + 0.5), base - of_step[m][bin] / most * peak);
      return points;
    };
    std::vector<std::pair<double, double>> filled = outline(data.shares.back());
    filled.insert(filled.begin(), {filled.front().first, base});
    filled.emplace_back(filled.back().first, base);
    svg += path("fill", through(filled) + "z");
    for (const auto& of_step : data.shares)
      svg += path(&of_step == &data.shares.back() ? "ridge last" : "ridge", through(outline(of_step)));
    svg += words("tick", left - 8, base, "end", data.modules[m]);
    svg += words("tick", width - 2, base, "end", number(100 * data.zeros.back()[m], 2) + " %");
  }
  std::vector<Phrase> names(data.modules.begin(), data.modules.end());
  return {"chart", width, bottom + 30, data.title + ": " + joined(names, ", "), svg};
}

}  // namespace isobar::charts
