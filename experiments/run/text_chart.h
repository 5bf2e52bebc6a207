// Charts in text, for a terminal: their scale is that of the charts of the page.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace isobar {

struct ChartRow {
  std::string label;
  double measured;
  double theory;  // NaN where there is none
};

// One row per layer on a logarithmic scale, measurement and theory side by side:
//
//   std of each layer's output                    ● measured  ○ theory  ◉ both
//        1e-2                       1e0
//     1  │                   ●        │  0.3373
//     2  │            ◉               │  0.1397
//
// At most `max_rows` rows, evenly chosen with the first and the last among them; `width` columns between the
// axes. Zero is at the left edge as "◂", infinity at the right as "▸"; NaN leaves its row empty.
std::string log_chart(const std::string& title, const std::vector<ChartRow>& rows, size_t max_rows = 24,
                      size_t width = 48);

struct ChartCurve {
  std::vector<double> x, y;  // x ascends; a y that is NaN is left out
};

// A curve of braille dots, and single points:
//
//   loss  ○ val_loss
//   4.2 ┤⢣
//       │ ⠑⢄⡀ ○
//   1.8 ┤   ⠈⠒⠤⠤○
//        0     99
//
// `rows` × `columns` characters without title, labels and axes. A dot shows the mean of its values; infinity is
// "▴" in the highest row.
std::string line_chart(const std::string& title, const ChartCurve& curve, const ChartCurve& points,
                       size_t rows, size_t columns);

}  // namespace isobar
