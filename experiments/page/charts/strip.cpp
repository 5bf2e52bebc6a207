// One part of a claim on one axis, and on the rungs of a ladder.
#include "charts.h"

namespace isobar::charts {
namespace {

constexpr double width = 210, height = 40, base = 24;

std::vector<double> given(const Strip& s) {
  std::vector<double> values;
  std::vector<std::optional<double>> all = {s.value, s.theory, s.printed, s.low, s.high};
  if (s.interval) all.insert(all.end(), {s.interval->first, s.interval->second});
  for (const std::optional<double>& v : all)
    if (v && std::isfinite(*v)) values.push_back(*v);
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
  const auto drawn = [&](const std::optional<double>& v) {
    return v && std::isfinite(*v) && !(log && *v <= 0);
  };

  Markup svg;
  if (s.low || s.high) {
    const double a = end(s.low, 2), b = end(s.high, width - 2);
    svg += path("zone", box(a == b ? a - 1.5 : a, base - 15, std::max(b - a, 3.0), 15));
  }
  svg += ticks(x);
  if (s.interval && !(log && s.interval->second <= 0)) {
    const double a = end(s.interval->first, 2), b = end(s.interval->second, 2);
    svg += path("interval", box(a - 0.5, base - 11, std::max(b - a, 0.0) + 1, 7));
  }
  if (drawn(s.theory)) svg += path("tickmark", "M" + at(x(*s.theory)) + " " + at(base - 16) + "V" + at(base));
  if (drawn(s.value)) svg += dot(x(*s.value), base - 7.5, 3.8);
  if (s.value && std::isinf(*s.value)) {  // points outwards
    const double tip = *s.value > 0 ? 6 : -6;
    svg += path("beyond",
                "M" + at(*s.value > 0 ? width - 7 : 7) + " " + at(base - 12) + "v9l" + at(tip) + " -4.5z");
  }
  if (drawn(s.printed)) svg += diamond(x(*s.printed), base - 7.5);
  return {"strip", width, height, s.label, svg};
}

Drawing rungs(const Rungs& r) {
  constexpr double total = 70, left = 42, right = width - 4, top = 17, bottom = total - 17;
  Ends across, up;
  for (const DrawnPoint& p : r.points) {
    across.include(p.x);
    for (const double value : {p.low, p.y, p.high})
      if (std::isfinite(value)) up.include(value);
  }
  if (across.none()) return {};
  for (const std::optional<double>& bound : {r.low, r.high})
    if (bound) up.include(*bound);
  if (up.none()) up.include(1);
  const bool log = r.log && up.low > 0;
  const double room = log ? std::pow(up.high / up.low, 0.1) : (up.high - up.low) * 0.1;
  const Scale x(across.low, across.high, left + 8, right - 8),
      y(log ? up.low / room : up.low - room, log ? up.high * room : up.high + room, bottom, top, log);

  const auto level = [&](double value) { return std::isinf(value) ? (value > 0 ? top : bottom) : y(value); };

  Markup svg;
  if (r.low || r.high) {
    const double from = r.low ? y(*r.low) : bottom, to = r.high ? y(*r.high) : top;
    svg += path("zone", box(left, from == to ? to - 1.5 : to, right - left, std::max(from - to, 3.0)));
  }
  for (double free = HUGE_VAL; const double v : y.ticks(3)) {
    if (y(v) > free) continue;
    free = y(v) - 11;
    svg += path("grid", "M" + at(left) + " " + at(y(v)) + "H" + at(right));
    svg += words("tick", left - 4, y(v) + 3.5, "end", tick_text(v));
  }
  const std::string blue = "--c:var(--measured)";
  std::vector<std::pair<double, double>> places;
  for (const DrawnPoint& p : r.points) places.emplace_back(x(p.x), level(p.y));
  svg += path("leader", through(places), blue);
  for (const DrawnPoint& p : r.points) {
    svg += path("range", through({{x(p.x), level(p.low)}, {x(p.x), level(p.high)}}), blue);
    svg += std::isinf(p.y) ? arrow(x(p.x), level(p.y), p.y > 0) : dot(x(p.x), y(p.y), 3);
  }
  svg += words("tick", left, 11, "start", r.name, "font-weight:600");
  svg += words("tick", left, total - 4, "start", r.first) + words("tick", right, total - 4, "end", r.last);
  return {"strip", width, total, r.label, svg};
}

}  // namespace isobar::charts
