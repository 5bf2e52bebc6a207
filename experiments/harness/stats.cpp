#include "stats.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <vector>

namespace isobar {

Spread spread_of(std::span<const double> values) {
  std::vector<double> finite;
  std::copy_if(values.begin(), values.end(), std::back_inserter(finite),
               [](double v) { return std::isfinite(v); });
  Spread spread;
  spread.nonfinite = static_cast<int64_t>(values.size() - finite.size());
  if (finite.empty()) return spread;
  std::sort(finite.begin(), finite.end());
  const size_t middle = finite.size() / 2;
  // midpoint() does not overflow where a sum would.
  spread.median = finite.size() % 2 == 1 ? finite[middle] : std::midpoint(finite[middle - 1], finite[middle]);
  spread.min = finite.front();
  spread.max = finite.back();
  return spread;
}

Range one_more_seed(const Spread& seeds) {
  if (seeds.min <= 0) return {seeds.min, seeds.max};
  const double half = std::sqrt(seeds.max / seeds.min);
  return {seeds.min / half, seeds.max * half};
}

Json to_json(const Spread& spread) {
  return {
      {"median", spread.median}, {"min", spread.min}, {"max", spread.max}, {"nonfinite", spread.nonfinite}};
}

}  // namespace isobar
