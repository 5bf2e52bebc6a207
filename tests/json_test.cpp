#include <doctest/doctest.h>

#include <cmath>

#include "../experiments/harness/json.h"

namespace isobar::json_test {

TEST_CASE("infinities and NaN are strings at any depth of a summary") {
  const Json json = {{"a", {1.5, NAN, {{"b", -INFINITY}}}}};
  CHECK(with_named_infinities(json).dump() == R"({"a":[1.5,"nan",{"b":"-inf"}]})");
}

}  // namespace isobar::json_test
