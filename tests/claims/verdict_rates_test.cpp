// A few cells of the table that verdict_rates prints: the rules keep their error rate, whatever the shape of
// the seeds and however often one looks.
#include <doctest/doctest.h>

#include <algorithm>

#include "../verdict_rates/cells.h"

namespace isobar::verdict_rates_test {

using namespace claims;

TEST_CASE("rules keep their error rate over four looks at seeds of every shape") {
  constexpr int64_t trials = 500;
  for (const SeedShape& values : shapes())
    for (const int64_t seeds : {3, 10, 20}) {
      if (seeds < values.promised_from) continue;
      for (const Asked asked : {Asked::at_least, Asked::printed}) {
        const Rates one = rates(asked, values, seeds, trials);
        CAPTURE(values.name);
        CAPTURE(seeds);
        CHECK(one.refuted.back() <= most_of(trials));
        CHECK(one.confirmed.back() <= most_of(trials));
        if (values.name.starts_with("normal"))
          CHECK(one.not_judged < 0.05 + 0.03);  // and three standard errors
      }
    }
}

}  // namespace isobar::verdict_rates_test
