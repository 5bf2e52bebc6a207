#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "../../experiments/run/text_chart.h"
#include "../holds.h"

namespace isobar::chart_test {

TEST_CASE("a chart sets each value at its power of ten, zero left and infinity right") {
  const std::string chart = log_chart("std",
                                      {{"1", 1e-4, NAN},
                                       {"2", 1, 1e-4},
                                       {"3", 0, 1e-2},
                                       {"10", INFINITY, NAN},
                                       {"11", NAN, NAN},
                                       {"12", 1, 1}},
                                      24, 17);
  CHECK(chart ==
        "std  ● measured  ○ theory  ◉ both\n"
        "    1e-4          1e0\n"
        " 1 │●                │ 0.0001\n"
        " 2 │○               ●│ 1\n"
        " 3 │◂       ○        │ 0\n"
        "10 │                ▸│ inf\n"
        "11 │                 │ nan\n"
        "12 │                ◉│ 1\n");
}

TEST_CASE("a chart of a thousand layers shows few, the first and the last among them") {
  std::vector<ChartRow> rows;
  for (int i = 1; i <= 1000; ++i) rows.push_back({std::to_string(i), std::pow(10.0, -i / 5), NAN});
  const std::string chart = log_chart("std", rows);
  CHECK(std::count(chart.begin(), chart.end(), '\n') == 26);
  CHECK(holds(chart, "   1 │"));
  CHECK(holds(chart, "1000 │●"));
}

}  // namespace isobar::chart_test
