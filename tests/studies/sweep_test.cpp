// How a sweep looks for a learning rate.
#include "../../experiments/run/sweep.h"

#include <doctest/doctest.h>

#include <cmath>
#include <iterator>

namespace isobar::sweep_test {

TEST_CASE("a sweep begins around 3e-3 at depth 8, and lower for deeper nets") {
  CHECK(first_rates(2) == std::vector{1e-3, 3e-3, 1e-2});
  CHECK(first_rates(8) == std::vector{1e-3, 3e-3, 1e-2});
  CHECK(first_rates(100) == std::vector{3e-4, 1e-3, 3e-3});   // 8.5e-4
  CHECK(first_rates(1000) == std::vector{1e-4, 3e-4, 1e-3});  // 2.7e-4
}

TEST_CASE("a sweep goes beyond its edge until the best rate is inside, or there are no more") {
  // The validation loss is least at `least` on a log scale; rates above `highest` diverge. The constant
  // classifier has 2.3.
  const auto search = [](double least, double highest, double lowest_loss) {
    Sweep sweep;
    for (std::vector<double> rates = first_rates(8); !rates.empty(); rates = sweep.next(2.3))
      for (const double rate : rates)
        sweep.losses[rate] =
            rate > highest ? INFINITY : lowest_loss + 1e-3 * std::abs(std::log(rate / least));
    return sweep;
  };
  const Sweep inside = search(3e-3, 1, 0.3);
  CHECK(inside.best() == 3e-3);
  CHECK(inside.losses.size() == 3);
  CHECK_FALSE(inside.at_edge());

  const Sweep below = search(4e-5, 1, 0.3);
  CHECK(below.best() == 3e-5);
  CHECK(below.losses.begin()->first == 1e-5);
  CHECK(below.losses.rbegin()->first == 1e-2);
  CHECK_FALSE(below.at_edge());

  const Sweep above = search(0.11, 1, 0.3);
  CHECK(above.best() == 0.1);
  CHECK(above.losses.rbegin()->first == 0.3);
  CHECK(above.losses.begin()->first == 1e-3);

  const Sweep beyond = search(100, 1, 0.3);
  CHECK(beyond.best() == 1);
  CHECK(beyond.at_edge());
  // A rate above which nets diverge is no edge of the sweep.
  const Sweep bounded = search(1, 3e-3, 0.3);
  CHECK(bounded.best() == 3e-3);
  CHECK(bounded.losses.size() == 3);
  // Where no rate lets the net learn, all are tried before it counts as one that cannot.
  CHECK(search(3e-3, 1, 2.25).losses.size() == std::size(swept_rates));
  CHECK(search(3e-3, 0, 0.3).losses.size() == std::size(swept_rates));
  CHECK(search(3e-3, 0, 0.3).best() == 1e-5);
}

}  // namespace isobar::sweep_test
