// Rows of inputs that broadcast: some extents of one are repeated, and its gradient is a sum over them.
#include "../autograd/ops.h"
#include "op_table.h"

namespace isobar {

// One row a line reads best: the formatter would spread each over four.
// clang-format off
std::vector<OpRow> broadcast_rows() {
  return {
      {"add both repeated", [](In x) { return x[0] + x[1]; }, {normal(4, 1, 5), normal(3, 1)}},
      {"add a single number", [](In x) { return x[0] + x[1]; }, {normal(), normal(2, 3)}},
      {"subtract from a row", [](In x) { return x[0] - x[1]; }, {normal(5), normal(3, 5)}},
      {"multiply outer product", [](In x) { return x[0] * x[1]; }, {normal(17, 1), normal(1, 33)}},
      {"multiply six dimensions", [](In x) { return x[0] * x[1]; }, {normal(2, 1, 2, 1, 3, 1), normal(2, 2, 1, 2, 1, 2)}},
      {"divide by a row", [](In x) { return x[0] / x[1]; }, {normal(3, 5), positive(5)}},
      {"divide a row", [](In x) { return x[0] / x[1]; }, {normal(5), off_zero(3, 5)}},
      {"pow broadcast", [](In x) { return pow(x[0], x[1]); }, {positive(3, 1), normal(5)}},
      {"minimum with a row", [](In x) { return minimum(x[0], x[1]); }, {normal(3, 5), normal(5)}},
      {"maximum with a column", [](In x) { return maximum(x[0], x[1]); }, {normal(3, 5), normal(3, 1)}},
      {"where broadcast", [](In x) { return where(x[0], x[1], x[2]); },
       {mask(2, 1, 5), normal(3, 1), normal()}},
      {"broadcast_to", [](In x) { return broadcast_to(x[0], {3, 4, 5}); }, {normal(4, 1)}},
      {"broadcast_to the same", [](In x) { return broadcast_to(x[0], {3, 5}); }, {normal(3, 5)}},
      {"broadcast_to more dimensions", [](In x) { return broadcast_to(x[0], {1, 1, 5}); }, {normal(5)}},
      {"broadcast_to nothing", [](In x) { return broadcast_to(x[0], {0, 5}); }, {normal(1, 5)}},
  };
}
// clang-format on

}  // namespace isobar
