// One part of a claim on one axis.
#include "charts.h"

namespace isobar::charts {
namespace {

constexpr double width = 210, height = 40, base = 24;

std::vector<double> given(const Strip& s) {
  std::vector<double> values;
  for (const std::optional<double>& v : {s.value, s.theory, s.printed, s.low, s.high})
    if (v) values.push_back(*v);
  if (s.interval) values.insert(values.end(), {s.interval->first, s.interval->second});
  return values;
}

// A logarithmic axis where the values lie far from each other and all have a place on it.
bool logarithmic(const Strip& s, const std::vector<double>& values, const std::vector<double>& positive) {
  const bool wide =
      positive.size() > 1 && (s.log || std::ranges::max(positive) > 30 * std::ranges::min(positive));
  return wide && s.value != 0.0 && s.printed != 0.0 &&
         std::all_of(values.begin(), values.end(), [](double v) { return v >= 0; });
}

Markup ticks(const Scale& x) {
  Markup svg;
  std::string marks;
  for (double free = -HUGE_VAL; const double v : x.ticks(3)) {
    const std::string text = tick_text(v);
    const double half = text_width(text) * 0.42, middle = std::clamp(x(v), half + 1, width - half - 1);
    marks += "M" + at(x(v)) + " " + at(base) + "v3";
    if (middle - half < free) continue;
    free = middle + half + 5;
    svg += words("tick", middle, height - 3, "", text);
  }
  svg += path("line", "M2 " + at(base) + "H" + at(width - 2) + marks);
  return svg;
}

}  // namespace

Drawing strip(const Strip& s) {
  std::vector<double> values = given(s), positive;
  for (const double v : values)
    if (v > 0) positive.push_back(v);
  if (values.empty()) return {};
  const bool log = logarithmic(s, values, positive);
  if (log) values = positive;
  const auto [least, most] = std::ranges::minmax(values);
  double from = least, to = most;
  const double span = to > from ? to - from : to != 0 ? std::abs(to) : 1;
  const double room = log ? std::pow(to / from, 0.12) * 1.15 : span * 0.12;
  from = log ? from / room : from - room;
  to = log ? to * room : to + room;
  const Scale x(from, to, 8, width - 8, log);
  // The place of an end of a range: beyond the axis where there is none, and at 0 on a logarithmic one.
  const auto end = [&](const std::optional<double>& v, double none) {
    return !v ? none : log && *v <= 0 ? 2 : x(std::clamp(*v, from, to));
  };
  const auto drawn = [&](const std::optional<double>& v) { return v && !(log && *v <= 0); };

  Markup svg;
  if (s.low || s.high) {
    const double a = end(s.low, 2), b = end(s.high, width - 2);
    svg += path("zone", box(a == b ? a - 1.5 : a, base - 15, std::max(b - a, 3.0), 15));
  }
  svg += ticks(x);
  if (s.interval && drawn(s.interval->second)) {
    const double a = end(s.interval->first, 2), b = end(s.interval->second, 2);
    svg += path("interval", box(a - 0.5, base - 11, std::max(b - a, 0.0) + 1, 7));
  }
  if (drawn(s.theory)) svg += path("tickmark", "M" + at(x(*s.theory)) + " " + at(base - 16) + "V" + at(base));
  if (drawn(s.value)) svg += dot(x(*s.value), base - 7.5, 3.8);
  if (drawn(s.printed)) svg += diamond(x(*s.printed), base - 7.5);
  return {"strip", width, height, s.label, svg};
}

}  // namespace isobar::charts
