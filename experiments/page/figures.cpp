#include "figures.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <regex>
#include <set>

#include "../../core/error.h"
#include "../run/lists.h"
#include "charts/charts.h"

namespace isobar::fixtures {
extern const char charts[];  // the style sheet
}

namespace isobar::report {
namespace {

using charts::Attributes;
using charts::Drawing;
using charts::element;
using charts::line_chart;
using charts::Look;
using charts::Markup;
using charts::spark;

Phrase in_language(const Phrase& phrase, const std::string& lang) {
  return lang == "zh" ? phrase.in_chinese() : phrase.en;
}
Phrase said(const Json& json, const std::string& name) {
  return {json.value(name, ""), json.value(name + "_zh", "")};
}

Markup cell(const char* tag, const Phrase& text, const Attributes& attributes = {}) {
  return element(tag, attributes, Markup(text, "span"));
}

using Rows = std::vector<std::pair<double, std::vector<Phrase>>>;  // where each is, and its cells

Markup table(const Markup& heads, const Rows& rows) {
  Markup body;
  for (const auto& [at, cells] : rows) {
    Markup row;
    for (const Phrase& text : cells) row += cell("td", text);
    body += element("tr", {{"data-at", fmt::format("{:.9g}", at)}}, row);
  }
  const Markup whole = element("thead", {}, element("tr", {}, heads)) + element("tbody", {}, body);
  return element("details", {{"class", "values"}},
                 cell("summary", {"values as a table", "以表格显示数值"}) +
                     element("div", {{"class", "wide"}}, element("table", {}, whole)));
}

// The drawing at each of these widths: the least is for a phone.
template <class Draw>
Markup figure(Attributes attributes, const Phrase& title, const Draw& draw, const std::vector<Look>& looks,
              const Markup& values) {
  constexpr const char* sizes[] = {"chart small", "chart medium", "chart large"};
  Markup drawings;
  for (size_t i = 0; i < looks.size(); ++i) {
    Drawing drawing = draw(looks[i]);
    drawing.kind = sizes[i];
    drawings += svg(drawing);
  }
  if (drawings.empty()) return {};
  return element("figure", attributes,
                 cell("figcaption", title) + element("div", {{"class", "drawing"}}, drawings) + values);
}

const std::vector<Look> page_looks = {{.width = 340, .height = 280}, {.width = 560, .height = 300}};

Markup plot_figure(const Plot& plot, const Attributes& attributes,
                   const std::vector<Look>& looks = page_looks) {
  const std::vector<charts::DrawnCurve> curves = charts::drawn_curves(plot);
  Markup heads = cell("th", plot.x);
  std::map<double, std::vector<Phrase>> rows;
  for (size_t i = 0; i < curves.size(); ++i) {
    const Attributes head = charts::with({{"style", curves[i].style}}, "data-run", curves[i].curve->run);
    heads += cell("th", curves[i].curve->label, head);
    for (const charts::DrawnPoint& p : curves[i].points) {
      const double at = std::strtod(fmt::format("{:.9g}", p.x - curves[i].aside).c_str(), nullptr);
      std::vector<Phrase>& row = rows[at];
      row.resize(curves.size() + 1);
      const bool named = at >= 0 && at < static_cast<double>(plot.ticks.size()) && at == std::floor(at);
      row[0] = named ? plot.ticks[static_cast<size_t>(at)] : charts::number(at);
      row[i + 1] = charts::number(p.y) + (p.low != p.high ? " " + charts::interval(p.low, p.high) : "");
    }
  }
  const auto draw = [&](const Look& look) { return charts::line_chart(plot, look); };
  return figure(attributes, plot.title, draw, looks, table(heads, Rows(rows.begin(), rows.end())));
}

Markup heatmap_figure(const Heatmap& map, const Attributes& attributes) {
  Markup heads = cell("th", map.x);
  for (const std::string& row : map.rows) heads += cell("th", row);
  Rows rows;
  for (size_t c = 0; c < map.columns.size(); ++c) {
    auto& [at, cells] =
        rows.emplace_back(static_cast<double>(c), std::vector<Phrase>{charts::number(map.columns[c])});
    for (const std::vector<double>& values : map.values) cells.emplace_back(charts::number(values.at(c)));
  }
  const auto draw = [&](const Look& look) { return charts::heat_map(map, look); };
  return figure(attributes, map.title, draw, page_looks, table(heads, rows));
}

Markup ridges_figure(Ridges ridges, const Attributes& attributes) {
  if (ridges.steps.empty()) return {};
  if (ridges.title.en.empty())
    ridges.title = ridges.quantity == "gradient"
                       ? Phrase{"Gradients of each module: how large they are", "各模块梯度的大小分布"}
                       : Phrase{"Activations of each module: how large they are", "各模块激活值的大小分布"};
  Markup heads = cell("th", "") + cell("th", {"zeros", "零"});
  for (size_t bin = 0; bin + 1 < ridges.edges.size(); ++bin)
    heads +=
        cell("th", charts::number(ridges.edges[bin], 2) + " … " + charts::number(ridges.edges[bin + 1], 2));
  Rows rows;
  for (size_t m = 0; m < ridges.modules.size(); ++m) {
    auto& [at, cells] = rows.emplace_back(static_cast<double>(m), std::vector<Phrase>{ridges.modules[m]});
    cells.emplace_back(charts::number(ridges.zeros.back().at(m), 3));
    for (const double share : ridges.shares.back().at(m)) cells.emplace_back(charts::number(share, 2));
  }
  std::string steps;
  for (const double step : ridges.steps) steps += (steps.empty() ? "" : ", ") + charts::number(step);
  const auto draw = [&](const Look& look) { return charts::ridge_chart(ridges, look); };
  const Phrase note = {"One curve for each log step (" + steps +
                           "); the last step is bold. Right: the share of exact zeros at the last step.",
                       "每个记录步一条曲线（" + steps + "），最后一步加粗。右侧：最后一步中恰为零的比例。"};
  return figure(attributes, ridges.title, draw, page_looks,
                cell("p", note, {{"class", "note"}}) + table(heads, rows));
}

std::optional<double> finite(const Json& number) {
  if (!number.is_number() || !std::isfinite(number.get<double>())) return {};
  return number.get<double>();
}
// A number or an infinity.
std::optional<double> known(const Json& part, const char* name) {
  const double number = number_from(part.value(name, Json()));
  return std::isnan(number) ? std::nullopt : std::optional(number);
}
std::optional<double> finite(const Json& part, const char* name, size_t index = 0) {
  const Json value = part.value(name, Json());
  return finite(value.is_array() ? value.size() > index ? value[index] : Json() : value);
}

charts::Strip strip_of(const Json& part) {
  charts::Strip strip{.label = said(part, "says"),
                      .value = known(part, "value"),
                      .theory = finite(part, "theory"),
                      .printed = finite(part, "printed")};
  if (const auto low = finite(part, "interval"), high = finite(part, "interval", 1); low && high)
    strip.interval = {*low, *high};
  if (!strip.printed) {
    strip.low = finite(part, "bounds");
    strip.high = finite(part, "bounds", 1);
  }
  strip.log = part.value("log", Json()) == true;
  return strip;
}

charts::Rungs rungs_of(const Json& part, const Json& reach) {
  charts::Rungs ladder{.label = said(part, "says") + ": " + said(reach, "text"),
                       .name = said(reach, "optimizer"),
                       .low = finite(part, "bounds"),
                       .high = finite(part, "bounds", 1),
                       .log = part.value("log", Json()) == true};
  for (const Json& rung : reach.value("rungs", Json::array())) {
    const std::optional<double> x = finite(rung, "log2_compute"), value = known(rung, "value");
    if (!x || !value) continue;
    if (ladder.points.empty()) ladder.first = said(rung, "short");
    ladder.last = said(rung, "short");
    ladder.points.push_back({*x, finite(rung, "interval").value_or(*value), *value,
                             finite(rung, "interval", 1).value_or(*value)});
  }
  const Range view = view_of(values_of(ladder.points, &charts::DrawnPoint::y));
  for (charts::DrawnPoint& point : ladder.points) {
    if (std::isinf(point.y)) continue;
    point.low = std::max(point.low, view.low);
    point.high = std::min(point.high, view.high);
  }
  return ladder;
}

// Parts that are one series, such as layers 1 to 8, as a plot: printed, measured with its interval, theory.
Plot series_of(const Json& claim) {
  const Json& parts = claim.at("parts");
  const std::regex place("(?:layer|block)([0-9]{1,6})\\.");
  std::set<double> places;
  std::set<std::string> runs;
  PlotCurve measured{.label = {"measured", "实测"}},
      theory{.label = {"theory", "理论"}, .role = Role::theory},
      printed{.label = {"printed", "印出"}, .role = Role::printed};
  bool log = true;
  for (const Json& part : parts) {
    const std::string key = part.value("key", "");
    std::smatch match;
    const std::optional<double> value = finite(part, "printed");
    if (!std::regex_search(key, match, place) || !value) return {};
    const double x = std::stod(match[1]);
    places.insert(x);
    runs.insert(part.value("run", ""));
    log = log && *value > 0;
    for (PlotCurve* curve : {&measured, &theory, &printed}) curve->x.push_back(x);
    measured.y.push_back(known(part, "value").value_or(NAN));
    measured.low.push_back(finite(part, "interval").value_or(NAN));
    measured.high.push_back(finite(part, "interval", 1).value_or(NAN));
    theory.y.push_back(finite(part, "theory").value_or(NAN));
    printed.y.push_back(*value);
  }
  if (places.size() != parts.size() || places.size() <= 3 || runs.size() != 1) return {};
  const bool gradient = parts.front().value("key", "").find("grad") != std::string::npos;
  return {.title = said(claim, "claim"),
          .x = {"layer", "层"},
          .y = gradient ? Phrase{"gradient norm", "梯度范数"} : Phrase{"std", "标准差"},
          .log = log,
          .curves = {measured, theory, printed}};
}

}  // namespace

Range view_of(const std::vector<double>& values) {
  charts::Ends ends;
  for (const double value : values)
    if (std::isfinite(value)) ends.include(value);
  if (ends.none()) return {NAN, NAN};
  const double least = ends.low, greatest = ends.high;
  const double length = greatest > least ? greatest - least : std::max(std::abs(least), 1.0);
  return {least - length, greatest + length};
}

std::string figure_svg(Plot plot, const std::string& lang, const Look& look) {
  constexpr double border = 16, top = 38;
  for (Phrase* phrase : {&plot.title, &plot.x, &plot.y}) *phrase = in_language(*phrase, lang);
  for (PlotCurve& curve : plot.curves) curve.label = in_language(curve.label, lang);
  const Drawing chart = line_chart(plot, look);
  check(!chart.content.empty(), "plot '{}': no point can be drawn", plot.title.en);
  const std::string width = fmt::format("{}", chart.width + 2 * border),
                    height = fmt::format("{}", chart.height + top + border);
  const Markup body =
      element("title", {}, Markup(plot.title)) + element("style", {}, Markup::literal(fixtures::charts)) +
      element("rect", {{"class", "ground"}, {"width", width}, {"height", height}}) +
      element("text", {{"class", "title"}, {"x", "20"}, {"y", "25"}}, Markup(plot.title)) +
      element("g", {{"transform", fmt::format("translate({} {})", border, top)}}, chart.content);
  return element("svg",
                 {{"xmlns", "http://www.w3.org/2000/svg"},
                  {"class", "chart alone"},
                  {"viewBox", "0 0 " + width + " " + height},
                  {"width", width},
                  {"height", height},
                  {"role", "img"}},
                 body)
      .text();
}

Markup figures_of(const Json& run) {
  Attributes of_run = {{"data-run", run.at("name")}};
  Markup all;
  for (const Json& plot : run.at("plots")) {
    std::string bears;
    for (const Json& piece : plot.at("figures"))
      bears += (bears.empty() ? "" : " ") + piece.get<std::string>();
    Attributes attributes = of_run;
    attributes.emplace_back("data-bears", bears);
    all += plot_figure(plot_of(plot), attributes);
  }
  for (const Json& map : run.at("heatmaps")) all += heatmap_figure(heatmap_of(map), of_run);
  for (const Json& ridges : run.at("ridges")) all += ridges_figure(ridges_of(ridges), of_run);
  return all;
}

Markup comparisons(const Json& runs) {
  std::vector<std::pair<std::string, std::vector<Named>>> groups;  // in order of the first of each
  std::set<std::string> named;
  for (const Json& run : runs)
    for (const Json& plot : run.at("plots")) {
      const std::string key = run.at("program").get<std::string>() + " " + plot.at("key").get<std::string>();
      if (run.at("named") == true) named.insert(key);
      auto group = std::ranges::find(groups, key, [](const auto& one) { return one.first; });
      if (group == groups.end()) group = groups.insert(groups.end(), {key, {}});
      group->second.push_back({run.at("name"), run.at("program"), &plot});
    }
  Markup all;
  for (const auto& [key, plots] : groups)
    if (plots.size() > 1 && named.contains(key))
      all += plot_figure(overlaid(plots), {{"class", "comparison"}});
  return all;
}

Markup claims_table(const Json& claims) {
  Markup rows, hero;
  size_t longest = 0;
  for (size_t i = 0; i < claims.size(); ++i) {
    const Json& claim = claims[i];
    Markup cells, strips;
    for (const char* field : {"id", "claim", "verdict", "reason"}) cells += cell("td", said(claim, field));
    // The page's scripts name what they show in its language.
    const auto add = [&](const std::string& what, Drawing drawing) {
      if (what != "series") drawing.label = drawing.label.en;
      strips += element("span", {{"data-strip", fmt::format("{} {}", i, what)}}, svg(drawing));
    };
    const Json parts = claim.value("parts", Json::array());
    for (size_t part = 0; part < parts.size(); ++part) {
      add(fmt::format("{}", part), strip(strip_of(parts[part])));
      const Json reaches = parts[part].value("reaches", Json::array());
      for (size_t k = 0; k < reaches.size(); ++k)
        add(fmt::format("{} reach {}", part, k), charts::rungs(rungs_of(parts[part], reaches[k])));
    }
    if (const Phrase reach = said(claim, "reach"); !reach.en.empty()) strips += cell("small", reach);
    if (const Plot series = series_of(claim); !series.curves.empty()) {
      add("series", spark(series));
      if (parts.size() > longest)
        hero = plot_figure(series, {{"class", "hero"}, {"data-claim", fmt::format("{}", i)}},
                           {{.width = 340, .height = 330, .labelled = true},
                            {.width = 640, .height = 330, .labelled = true},
                            {.width = 1140, .height = 330, .labelled = true}});
      longest = std::max(longest, parts.size());
    }
    cells += element("td", {}, strips);
    rows += element("tr", {}, cells);
  }
  Markup head;
  for (const Phrase& name :
       {Phrase{"Id", "编号"}, {"Claim", "断言"}, {"Verdict", "判定"}, {"Measured", "实测"}, {""}})
    head += cell("th", name);
  return claims.empty() ? hero : hero + element("table", {}, element("tr", {}, head) + rows);
}

Plot overlaid(const std::vector<Named>& plots) {
  Plot all = plot_of(*plots.front().plot);
  all.title = plots.front().program + ": " + all.y;
  all.curves.clear();
  int first = 0;
  for (const auto& [run, program, plot] : plots) {
    std::vector<PlotCurve> curves = plot_of(*plot).curves;
    std::erase_if(curves, [](const PlotCurve& curve) { return curve.role == Role::printed; });
    const bool single = std::ranges::count(curves, Role::measured, &PlotCurve::role) == 1;
    int number = 0;
    for (PlotCurve& curve : curves) {
      curve.label = single && curve.role == Role::measured ? run : run + ": " + curve.label;
      curve.run = run;
      curve.colour = first + (single ? 0 : number++);
      all.curves.push_back(std::move(curve));
    }
    first += single ? 1 : number;
  }
  return all;
}

Plot plot_named(const Json& runs, const std::string& name) {
  std::vector<Named> found;
  std::vector<std::string> known;
  std::set<std::string> programs;
  for (const Json& run : runs)
    for (const Json& plot : run.at("plots")) {
      const std::string key = plot.at("key"), full = run.at("name").get<std::string>() + "." + key;
      if (full == name) return plot_of(plot);
      known.push_back(full);
      if (key != name) continue;
      found.push_back({run.at("name"), run.at("program"), &plot});
      programs.insert(run.at("program"));
    }
  check(!found.empty(), "--svg: {}", not_one_of(known, name));
  check(programs.size() == 1, "--svg: {} have a plot '{}'; name the run before it, with a dot: {}.{}",
        fmt::join(programs, " and "), name, found.front().run, name);
  return found.size() == 1 ? plot_of(*found.front().plot) : overlaid(found);
}

}  // namespace isobar::report
