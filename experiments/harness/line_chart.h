// A small line chart in text: a curve of braille dots, and single points.
//
//   loss  ○ val_loss
//   4.2 ┤⢣
//       │ ⠑⢄⡀ ○
//   1.8 ┤   ⠈⠒⠤⠤○
//        0     99
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace isobar {

struct ChartCurve {
  std::vector<double> x, y;  // x ascends; a y that is not finite is left out
};

// `rows` × `columns` characters for the curve and its points, without title, labels and axes. Where several
// values of the curve fall onto one dot it shows their mean.
std::string line_chart(const std::string& title, const ChartCurve& curve, const ChartCurve& points,
                       size_t rows, size_t columns);

}  // namespace isobar
