#include "measurements.h"

#include "table.h"

namespace isobar {

void Measurements::add(const std::string& key, double value, double theory, double within) {
  auto found = std::ranges::find(measurements_, key, &Measurement::key);
  if (found == measurements_.end())
    found = measurements_.insert(measurements_.end(),
                                 {.key = key, .theory = theory, .within = within, .values = {}});
  check(found->theory == theory || std::isnan(theory), "measurements: '{}' has two theories, {} and {}", key,
        found->theory, theory);
  found->values.push_back(value);
}

Spread Measurements::spread(const std::string& key) const {
  const auto found = std::ranges::find(measurements_, key, &Measurement::key);
  check(found != measurements_.end(), "measurements: nothing was measured as '{}'", key);
  return spread_of(found->values);
}

void Measurements::publish(Run& run) const {
  Csv& csv = run.csv("measurements.csv", {"key", "median", "min", "max", "theory"});
  for (const Measurement& measurement : measurements_) {
    const Spread spread = spread_of(measurement.values);
    run.measured(measurement.key, spread, measurement.theory);
    csv.row({measurement.key, spread.median, spread.min, spread.max, measurement.theory});
  }
}

void Measurements::print(Run& run) const {
  Table table({"measurement", "median", "min", "max", "theory"}, "lrrrr");
  for (const Measurement& one : measurements_) {
    const Spread spread = spread_of(one.values);
    table.row({one.key, number_text(spread.median), number_text(spread.min), number_text(spread.max),
               number_or_dash(one.theory)});
  }
  run.say("\n{}", table.text());
}

void Measurements::expect_close(Run& run, const std::string& suffix, double bound) const {
  int64_t count = 0;
  double worst = 0;
  std::string where = "none";
  for (const Measurement& measurement : measurements_) {
    if (!measurement.key.ends_with(suffix)) continue;
    check(!std::isnan(measurement.theory), "measurements: '{}' has no theory to be close to",
          measurement.key);
    ++count;
    for (const double value : measurement.values) {
      const double error = std::abs(value - measurement.theory);
      if (error <= worst) continue;  // false for NaN, which thus counts as worst
      worst = std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
      where = measurement.key;
    }
  }
  check(count > 0, "measurements: no key ends in '{}'", suffix);
  run.expect(suffix, worst <= bound,
             fmt::format("{} measurements within {:.1e} of theory, allowed {:.1e} (worst: {})", count, worst,
                         bound, where));
}

void Measurements::expect_bounds(Run& run) const {
  for (const Measurement& one : measurements_)
    if (std::isfinite(one.within)) expect_close(run, one.key, one.within);
}

}  // namespace isobar
