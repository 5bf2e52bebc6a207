// Shapes: extents, indices from the back, overflow, strides and broadcasting.
#include "../../core/shape.h"

#include <doctest/doctest.h>

namespace isobar::shape_test {

TEST_CASE("a shape of no dimensions is a single number") {
  const Shape number;
  CHECK(number.ndim() == 0);
  CHECK(number.numel() == 1);
  CHECK(number.text() == "[]");
  CHECK(number == Shape{});
  CHECK_FALSE(number == Shape{1});
}

TEST_CASE("extents are indexed from the front and from the back") {
  const Shape s{2, 3, 5};
  CHECK(s[0] == 2);
  CHECK(s[-1] == 5);
  CHECK(s[-3] == 2);
  CHECK(s.numel() == 30);
  CHECK(s.index(-2) == 1);
  CHECK(s.text() == "[2, 3, 5]");
  CHECK_THROWS_WITH_AS(s[3], "shape: [2, 3, 5] has no dimension 3", Error);
  CHECK_THROWS_WITH_AS(s[-4], "shape: [2, 3, 5] has no dimension -4", Error);
  CHECK_THROWS_WITH_AS(Shape()[0], "shape: [] has no dimension 0", Error);
}

TEST_CASE("shapes compare by extents and number of dimensions") {
  CHECK(Shape{2, 3} == Shape{2, 3});
  CHECK_FALSE(Shape{2, 3} == Shape{3, 2});
  CHECK_FALSE(Shape{2, 3} == Shape{2, 3, 1});
  CHECK(Shape(7) == Shape{7});
}

TEST_CASE("an extent of zero makes a shape of no elements") {
  const Shape s{4, 0, 3};
  CHECK(s.numel() == 0);
  CHECK(s.strides()[0] == 0);
  CHECK(s[1] == 0);
}

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

TEST_CASE("strides are row-major") {
  const Strides strides = Shape{2, 3, 5}.strides();
  CHECK(strides[0] == 15);
  CHECK(strides[1] == 5);
  CHECK(strides[2] == 1);
}

TEST_CASE("shapes broadcast from the last dimension, as in NumPy") {
  CHECK(broadcast("add", {2, 3}, {3}) == Shape{2, 3});
  CHECK(broadcast("add", {4, 1, 3}, {2, 1}) == Shape{4, 2, 3});
  CHECK(broadcast("add", {}, {5}) == Shape{5});
  CHECK(broadcast("add", {}, {}) == Shape{});
  CHECK(broadcast("add", {0}, {1}) == Shape{0});
  CHECK(broadcast("add", {1, 3}, {0, 1}) == Shape{0, 3});
  CHECK_THROWS_WITH_AS(broadcast("add", {2, 3}, {2, 4}),
                       "add: shapes [2, 3] and [2, 4] do not broadcast (dimension -1: 3 against 4)", Error);
  CHECK_THROWS_WITH_AS(broadcast("mul", {2, 3}, {4, 1}),
                       "mul: shapes [2, 3] and [4, 1] do not broadcast (dimension -2: 2 against 4)", Error);
  CHECK_THROWS_AS(broadcast("add", {0}, {3}), Error);
}

TEST_CASE("broadcast strides are zero exactly where an extent of one is repeated") {
  const Shape from{4, 1, 3};
  const Strides strides = broadcast_strides(from, from.strides(), {5, 4, 2, 3});
  CHECK(strides[0] == 0);  // a new dimension in front
  CHECK(strides[1] == 3);
  CHECK(strides[2] == 0);
  CHECK(strides[3] == 1);
}

}  // namespace isobar::shape_test
