// Seeds of one value, as a run's summary has them.
#pragma once

#include "../../core/rng.h"
#include "../../experiments/claims/claim.h"

namespace isobar::claims {

inline Json same_for_all_seeds(double value) {
  const std::vector<double> values(20, value);
  return with_named_infinities(to_json(spread_of(values)));
}

// 20 seeds about the value, as near and as even as a rule for normal values could want them; equal for
// every_seed.
inline Json seeds_about(const Part& part, double value) {
  if (part.predicate.rule == Rule::every_seed) return same_for_all_seeds(value);
  std::vector<double> values;
  for (int i = 0; i < 20; ++i)
    values.push_back(value + 1e-9 * (part.predicate.log ? value : 1 + std::abs(value)) *
                                 normal_quantile((i + 0.5) / 20));
  return to_json(spread_of(values));
}

}  // namespace isobar::claims
