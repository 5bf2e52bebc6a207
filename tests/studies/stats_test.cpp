#include <doctest/doctest.h>

#include "../../experiments/harness/stats.h"

namespace isobar::stats_test {

TEST_CASE("a spread is over the finite values and counts the others") {
  const std::vector<double> values = {3, INFINITY, 1, NAN, 2, 10};
  const Spread spread = spread_of(values);
  CHECK(spread.median == 2.5);
  CHECK(spread.min == 1);
  CHECK(spread.max == 10);
  CHECK(spread.nonfinite == 2);
  const Spread none = spread_of(std::vector<double>{INFINITY, NAN});
  CHECK(std::isnan(none.median));
  CHECK(none.nonfinite == 2);
  CHECK(spread_of(std::vector<double>{1e308, 1.5e308}).median == doctest::Approx(1.25e308));
  CHECK(with_named_infinities(to_json(none)).dump() ==
        R"({"values":["inf","nan"],"median":"nan","min":"nan","max":"nan","nonfinite":2,"n":0})");
}

TEST_CASE("infinities and NaN are strings at any depth of a summary") {
  const Json json = {{"a", {1.5, NAN, {{"b", -INFINITY}}}}};
  CHECK(with_named_infinities(json).dump() == R"({"a":[1.5,"nan",{"b":"-inf"}]})");
}

}  // namespace isobar::stats_test
