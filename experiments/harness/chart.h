// A small chart on a logarithmic scale, in text: one row per layer, measurement and theory side by side.
//
//   std of each layer's output                    ● measured  ○ theory  ◉ both
//        1e-2                       1e0
//     1  │                   ●        │  0.3373
//     2  │            ◉               │  0.1397
#pragma once

#include <string>
#include <vector>

namespace isobar {

struct ChartRow {
  std::string label;
  double measured;
  double theory;  // NaN where there is none
};

// At most `max_rows` rows, evenly chosen with the first and the last among them; `width` columns between the
// axes. Zero is at the left edge as "◂", infinity at the right as "▸"; NaN leaves its row empty.
std::string log_chart(const std::string& title, const std::vector<ChartRow>& rows, size_t max_rows = 24,
                      size_t width = 48);

}  // namespace isobar
