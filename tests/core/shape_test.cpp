// Shapes: what is refused, and extents that are replaced, inserted and taken out.
#include "../../core/shape.h"

#include <doctest/doctest.h>

namespace isobar::shape_test {

TEST_CASE("negative extents, too many dimensions and too many elements are refused") {
  CHECK_THROWS_WITH_AS((Shape{2, -1}), "shape: extents must not be negative, got 2, -1", Error);
  CHECK_NOTHROW(Shape{1, 1, 1, 1, 1, 1});
  CHECK_THROWS_WITH_AS((Shape{1, 1, 1, 1, 1, 1, 1}), "shape: at most 6 dimensions, got 7", Error);
  const int64_t big = int64_t{1} << 32;
  CHECK_THROWS_WITH_AS((Shape{big, big}),
                       "shape: [4294967296, 4294967296] has more elements than 64 bits can address", Error);
  // Just at the limit of 2^58 elements, and just above.
  CHECK((Shape{int64_t{1} << 29, int64_t{1} << 29}).numel() == int64_t{1} << 58);
  CHECK_THROWS_AS((Shape{int64_t{1} << 29, (int64_t{1} << 29) + 1}), Error);
  // A zero among the extents must not hide that the strides would overflow.
  CHECK_THROWS_AS((Shape{0, big, big}), Error);
}

TEST_CASE("extents are replaced, inserted and taken out without touching the original") {
  const Shape s{2, 3, 5};
  CHECK(s.with(-1, 7) == Shape{2, 3, 7});
  CHECK(s.with(0, 0) == Shape{0, 3, 5});
  CHECK(s.inserted(0, 9) == Shape{9, 2, 3, 5});
  CHECK(s.inserted(3, 9) == Shape{2, 3, 5, 9});
  CHECK(s.without(1) == Shape{2, 5});
  CHECK(s.without(-1) == Shape{2, 3});
  CHECK(s.last(2) == Shape{3, 5});
  CHECK(s.last(0) == Shape());
  CHECK(s.last(3) == s);
  CHECK(s == Shape{2, 3, 5});
  CHECK_THROWS_WITH_AS(s.inserted(4, 1), "shape: cannot insert dimension 4 into [2, 3, 5]", Error);
  CHECK_THROWS_WITH_AS(s.last(4), "shape: [2, 3, 5] has no last 4 dimensions", Error);
  CHECK_THROWS_AS(s.without(3), Error);
  CHECK_THROWS_AS(s.with(3, 1), Error);
  CHECK_THROWS_AS((Shape{1, 1, 1, 1, 1, 1}.inserted(0, 1)), Error);
}

}  // namespace isobar::shape_test
