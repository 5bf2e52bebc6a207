#include <doctest/doctest.h>

#include "../../experiments/run/stats.h"
#include "../../experiments/run/table.h"

namespace isobar::stats_test {

TEST_CASE("a spread counts infinities as values, and a NaN leaves median and range unknown") {
  const auto same = [](const Spread& spread, double median, double min, double max, int64_t nonfinite) {
    CHECK(spread.median == median);
    CHECK(spread.min == min);
    CHECK(spread.max == max);
    CHECK(spread.nonfinite == nonfinite);
    CHECK(spread.n == std::ssize(spread.values) - nonfinite);
  };
  const double inf = INFINITY;
  same(spread_of(std::vector<double>{3, 1, 2, 10}), 2.5, 1, 10, 0);
  same(spread_of(std::vector<double>{3, inf, 1, 2, inf}), 3, 1, inf, 2);
  same(spread_of(std::vector<double>{3, inf, 1, inf, inf}), inf, 1, inf, 3);
  same(spread_of(std::vector<double>{3, inf, 1, inf}), inf, 1, inf, 2);  // half of 3 + ∞
  same(spread_of(std::vector<double>{-inf, -inf, 1}), -inf, -inf, 1, 2);
  same(spread_of(std::vector<double>{inf, inf}), inf, inf, inf, 2);
  CHECK(spread_of(std::vector<double>{1e308, 1.5e308}).median == doctest::Approx(1.25e308));
  CHECK(std::isnan(spread_of(std::vector<double>{-inf, inf}).median));
  const Spread unknown = spread_of(std::vector<double>{3, inf, 1, NAN, 2});
  CHECK(with_named_infinities(to_json(unknown)).dump() ==
        R"({"values":[3.0,"inf",1.0,"nan",2.0],"median":"nan","min":"nan","max":"nan","nonfinite":2,"n":3})");
  CHECK(spread_text(unknown) == "nan, 2 not finite");
  CHECK(spread_text(spread_of(std::vector<double>{3, inf, 1, inf, inf})) == "inf [1, inf], 3 not finite");
  CHECK(spread_text(spread_of(std::vector<double>{inf, inf})) == "inf, 2 not finite");
}

TEST_CASE("the mean of values with an infinity is infinite, and its interval has no end") {
  const Spread spread = spread_of(std::vector<double>{3, INFINITY, 1});
  CHECK(spread.linear.mean == INFINITY);
  CHECK(spread.logarithm.mean == INFINITY);
  CHECK(std::isnan(spread.linear.sd));
  CHECK(mean_interval(spread, 0.05, false).low == -INFINITY);
  CHECK(mean_interval(spread, 0.05, true).low == 0);
  CHECK(mean_interval(spread, 0.05, false).high == INFINITY);
  CHECK(std::isnan(spread_of(std::vector<double>{3, NAN, 1}).linear.mean));
  CHECK(std::isnan(spread_of(std::vector<double>{-INFINITY, INFINITY}).linear.mean));
}

TEST_CASE("infinities and NaN are strings at any depth of a summary") {
  const Json json = {{"a", {1.5, NAN, {{"b", -INFINITY}}}}};
  CHECK(with_named_infinities(json).dump() == R"({"a":[1.5,"nan",{"b":"-inf"}]})");
}

}  // namespace isobar::stats_test
