// Rotary positions. (Values from position 0: spec/same_as_spec.cpp.)
#include "op_edges.h"

namespace isobar::rope_test {

TEST_CASE("rope turns by its own angles, whatever was asked before") {
  // Tables of angles are kept and shared: more keys than are kept, each differing from the first in one
  // thing, asked for in turn, twice. (a, b) = (1, 2) in every pair; angles below 100, whose cosines are right
  // to 1e-14.
  struct Key {
    int64_t time, dim;
    double base;
    int64_t start;
  };
  const std::vector<Key> keys = {{7, 6, 1e4, 0}, {8, 6, 1e4, 0}, {7, 8, 1e4, 0}, {7, 6, 100, 0},
                                 {7, 6, 1e4, 3}, {1, 2, 1e4, 9}, {3, 66, 1e4, 0}};
  for (int round = 0; round < 2; ++round)
    for (const Key& key : keys)
      for (const Dtype dtype : {Dtype::f64, Dtype::f32}) {
        INFO("time ", key.time, ", dim ", key.dim);
        const int64_t half = key.dim / 2;
        Doubles ones_and_twos(key.time * key.dim);
        for (size_t i = 0; i < ones_and_twos.size(); ++i)
          ones_and_twos[i] = static_cast<int64_t>(i) % key.dim < half ? 1 : 2;
        const Tensor x = raw::cast(tensor({1, key.time, 1, key.dim}, ones_and_twos), dtype);
        const Doubles y = rope(x, key.base, key.start).to_vector<double>();
        double worst = 0;
        for (int64_t t = 0; t < key.time; ++t)
          for (int64_t j = 0; j < half; ++j) {
            const double angle =
                static_cast<double>(key.start + t) *
                std::pow(key.base, -2 * static_cast<double>(j) / static_cast<double>(key.dim));
            const double* const row = &y[t * key.dim];
            worst = std::max(worst, std::abs(row[j] - (std::cos(angle) - 2 * std::sin(angle))));
            worst = std::max(worst, std::abs(row[j + half] - (std::sin(angle) + 2 * std::cos(angle))));
          }
        CHECK(worst <= (dtype == Dtype::f64 ? 1e-13 : 1e-6));
      }
}

}  // namespace isobar::rope_test
