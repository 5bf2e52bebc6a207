#include "figures.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "table.h"

namespace isobar {

void Figures::add(const std::string& key, double value, double theory) {
  const auto same = [&](const Figure& figure) { return figure.key == key; };
  auto found = std::find_if(figures_.begin(), figures_.end(), same);
  if (found == figures_.end())
    found = figures_.insert(figures_.end(), {.key = key, .theory = theory, .values = {}});
  check(found->theory == theory || std::isnan(theory), "figures: '{}' has two theories, {} and {}", key,
        found->theory, theory);
  found->values.push_back(value);
}

Spread Figures::spread(const std::string& key) const {
  for (const Figure& figure : figures_)
    if (figure.key == key) return spread_of(figure.values);
  throw_error(fmt::format("figures: nothing was measured as '{}'", key));
}

void Figures::publish(Run& run) const {
  Csv& csv = run.csv("figures.csv", {"key", "median", "min", "max", "theory"});
  for (const Figure& figure : figures_) {
    const Spread spread = spread_of(figure.values);
    run.measured(figure.key, spread, figure.theory);
    csv.row({figure.key, spread.median, spread.min, spread.max, figure.theory});
  }
}

void Figures::print(Run& run) const {
  Table table({"figure", "median", "min", "max", "theory"});
  for (const Figure& f : figures_) {
    const Spread spread = spread_of(f.values);
    table.row({f.key, figure(spread.median), figure(spread.min), figure(spread.max),
               std::isnan(f.theory) ? "–" : figure(f.theory)});
  }
  run.say("\n{}", table.text());
}

void Figures::expect_close(Run& run, const std::string& suffix, double bound) const {
  int64_t count = 0;
  double worst = 0;
  std::string where = "none";
  for (const Figure& figure : figures_) {
    if (!figure.key.ends_with(suffix)) continue;
    check(!std::isnan(figure.theory), "figures: '{}' has no theory to be close to", figure.key);
    ++count;
    for (const double value : figure.values) {
      const double error = std::abs(value - figure.theory);
      if (error <= worst) continue;  // false for NaN, which thus counts as worst
      worst = std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
      where = figure.key;
    }
  }
  check(count > 0, "figures: no key ends in '{}'", suffix);
  run.expect(suffix, worst <= bound,
             fmt::format("{} figures within {:.1e} of theory, allowed {:.1e} (worst: {})", count, worst,
                         bound, where));
}

}  // namespace isobar
