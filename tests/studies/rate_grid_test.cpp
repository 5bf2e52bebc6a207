// rate_beyond: which learning rate a sweep tries next.
#include "../../experiments/lm_norms/training.h"

#include <doctest/doctest.h>

namespace isobar::rate_grid_test {

TEST_CASE("a best rate at an edge asks for the next one beyond it, on a grid of 1 and 3") {
  const std::vector<double> rates = {3e-3, 1e-3, 1e-2};  // in any order
  CHECK(rate_beyond(rates, 1e-2) == 3e-2);
  CHECK(rate_beyond(rates, 1e-3) == 3e-4);
  CHECK(rate_beyond(std::vector<double>{0.03, 0.1}, 0.1) == 0.3);
  // Rates that are not of the grid: 2e-3 √10 = 6.3e-3 is nearer, as a ratio, to 1e-2 than to 3e-3.
  CHECK(rate_beyond(std::vector<double>{1e-3, 2e-3}, 2e-3) == 1e-2);
  CHECK(rate_beyond(std::vector<double>{2e-3, 5e-3}, 2e-3) == 1e-3);
}

TEST_CASE("a sweep ends between two rates, with a single rate, and at 1e-5 and 1") {
  CHECK_FALSE(rate_beyond(std::vector<double>{1e-3, 3e-3, 1e-2}, 3e-3).has_value());
  CHECK_FALSE(rate_beyond(std::vector<double>{3e-3}, 3e-3).has_value());
  CHECK_FALSE(rate_beyond(std::vector<double>{3e-3, 3e-3}, 3e-3).has_value());
  CHECK_FALSE(rate_beyond(std::vector<double>{0.3, 1}, 1).has_value());
  CHECK_FALSE(rate_beyond(std::vector<double>{1e-5, 1e-4}, 1e-5).has_value());
  CHECK_FALSE(rate_beyond(std::vector<double>{1e-9, 1e25}, 1e-9).has_value());
  CHECK_FALSE(rate_beyond(std::vector<double>{1e-9, 1e25}, 1e25).has_value());
}

TEST_CASE("a sweep upwards, or downwards, comes to its bound in steps of about 3") {
  for (const bool up : {true, false}) {
    CAPTURE(up);
    std::vector<double> rates = up ? std::vector<double>{1e-5, 3e-5} : std::vector<double>{1, 0.3};
    while (const auto next = rate_beyond(rates, rates.back())) {
      const double ratio = up ? *next / rates.back() : rates.back() / *next;
      CHECK(ratio > 2.9);
      CHECK(ratio < 3.4);
      rates.push_back(*next);
    }
    CHECK(rates.size() == 11);
    CHECK(rates.back() == (up ? 1 : 1e-5));
  }
}

}  // namespace isobar::rate_grid_test
