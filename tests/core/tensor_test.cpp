// Tensors: numbers that a dtype cannot hold, contiguity, the write door, and views that are refused.
#include "../../core/tensor.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "../../autograd/tape.h"
#include "../message_of.h"
#include "../small_tensors.h"

namespace isobar::tensor_test {

using Floats = std::vector<float>;

Tensor two_by_three() { return tensor({2, 3}, Floats{1, 2, 3, 4, 5, 6}); }
Tensor transposed(const Tensor& x) {
  return raw::as_strided(x, {x.size(1), x.size(0)}, {x.strides()[1], x.strides()[0]});
}

TEST_CASE("a number that an integer cannot hold is refused, with its place") {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::nan("");
  for (const double number : {nan, inf, -inf, 1e30, -1e30, 3e9, -3e9}) {
    const Tensor x = transpose(tensor({2, 3}, Doubles{1, 2, 3, 4, number, 6}), 0, 1);
    const std::string at = fmt::format(", the element at [1, 1] is {}", number);
    CHECK(message_of([&] { cast(x, Dtype::i32); }) ==
          "cast: i32 holds integers in [-2147483648, 2147483647]" + at);
    CHECK(message_of([&] { (void)x.to_vector<int32_t>(); }) ==
          "cast: i32 holds integers in [-2147483648, 2147483647]" + at);
    if (std::abs(number) == 3e9) {
      CHECK(cast(x, Dtype::i64).at({1, 1}) == number);
      CHECK_THROWS_AS(cast(cast(x, Dtype::i64), Dtype::i32), Error);
    } else {
      CHECK(message_of([&] { cast(x, Dtype::i64); }) ==
            "cast: i64 holds integers in [-9223372036854775808, 9223372036854775807]" + at);
      CHECK_THROWS_AS(cast(cast(x, Dtype::f32), Dtype::i64), Error);
    }
  }
  CHECK(cast(row({2147483647.9, -2147483648.9}), Dtype::i32).to_vector<int64_t>() ==
        std::vector<int64_t>{2147483647, -2147483648});
  CHECK_THROWS_AS(cast(row({2147483648}), Dtype::i32), Error);
  CHECK_THROWS_AS(cast(tensor({1}, Floats{2147483648.0f}), Dtype::i32), Error);
  CHECK_THROWS_AS(cast(row({9223372036854775808.0}), Dtype::i64), Error);
  CHECK(cast(row({-9223372036854775808.0}), Dtype::i64).to_vector<int64_t>()[0] ==
        std::numeric_limits<int64_t>::min());
}

TEST_CASE("a number for integers must be one of them: nothing is rounded away") {
  for (const double number : {0.5, -1e-9, 1e30, std::nan(""), std::numeric_limits<double>::infinity()})
    for (const Dtype dtype : {Dtype::i32, Dtype::i64, Dtype::boolean}) {
      INFO("number ", number, ", dtype ", name_of(dtype));
      CHECK_THROWS_AS(full({1}, number, dtype), Error);
      CHECK_THROWS_AS(where(tensor({1}, std::vector<bool>{true}), zeros({1}, dtype), number), Error);
      CHECK_THROWS_AS(where(tensor({1}, std::vector<bool>{true}), number, zeros({1}, dtype)), Error);
      CHECK_THROWS_AS(pad(zeros({1}, dtype), {1, 1}, number), Error);
    }
  CHECK_THROWS_AS(full({1}, 3e9, Dtype::i32), Error);
  CHECK(full({1}, 3e9, Dtype::i64).item() == 3e9);
  CHECK_THROWS_AS(arange(3, Dtype::boolean), Error);
}

TEST_CASE("an i64 that no double is equal to is given exactly or not at all") {
  const int64_t odd = (int64_t{1} << 53) + 1;
  const Tensor x = tensor({2}, std::vector<int64_t>{odd, odd - 1}),
               one = tensor({}, std::vector<int64_t>{-odd});
  CHECK(message_of([&] { (void)one.item(); }) ==
        "item: no double is -9007199254740993; to_vector<int64_t>() gives it");
  CHECK(message_of([&] { (void)x.at({0}); }) ==
        "at: no double is 9007199254740993; to_vector<int64_t>() gives it");
  CHECK(x.at({1}) == 9007199254740992.0);
  CHECK(x.to_vector<int64_t>()[0] == odd);
  CHECK(tensor({}, std::vector<int64_t>{int64_t{3} << 60}).item() == 0x3p60);
  CHECK(tensor({}, std::vector<int64_t>{std::numeric_limits<int64_t>::min()}).item() ==
        -9223372036854775808.0);
  CHECK_THROWS_AS(tensor({}, std::vector<int64_t>{std::numeric_limits<int64_t>::max()}).item(), Error);
  // Beyond 2^53 an i64 and a double cannot be compared as doubles.
  CHECK_THROWS_AS((void)(x == 9007199254740992.0), Error);
  CHECK(all(x > 9007199254740991.0).item() == 1);
  CHECK(all(x < std::numeric_limits<double>::infinity()).item() == 1);
}

TEST_CASE("contiguity ignores the strides of extents of one, and of empty tensors") {
  const Tensor x = two_by_three();
  CHECK(raw::as_strided(x, {1, 6}, {99, 1}).is_contiguous());
  CHECK(raw::as_strided(x, {6, 1}, {1, 99}).is_contiguous());
  CHECK(raw::as_strided(x, {0, 3}, {1, 7}).is_contiguous());
  CHECK(raw::as_strided(x, {}, {}).is_contiguous());
  CHECK(raw::as_strided(x, {2, 1, 3}, {3, 9, 1}).is_contiguous());
  CHECK_FALSE(raw::as_strided(x, {2, 2}, {3, 1}).is_contiguous());
  CHECK_FALSE(raw::as_strided(x, {3}, {2}).is_contiguous());
  CHECK_FALSE(raw::as_strided(x, {3}, {0}).is_contiguous());
}

TEST_CASE("ranges, equal steps and unit matrices have the values of PyTorch") {
  CHECK(arange(2, 5).to_vector<int64_t>() == std::vector<int64_t>{2, 3, 4});
  CHECK(arange(-2, 1, Dtype::f32).to_vector<float>() == Floats{-2, -1, 0});
  CHECK(arange(3, 3).shape() == Shape{0});
  constexpr int64_t least = std::numeric_limits<int64_t>::min();
  CHECK(arange(least, least + 2).to_vector<int64_t>() == std::vector<int64_t>{least, least + 1});
  CHECK_THROWS_AS(arange(least, 5), Error);
  CHECK_THROWS_AS(arange(1 << 24, (1 << 24) + 2, Dtype::f32), Error);
  CHECK_THROWS_AS(arange(-(1 << 24) - 1, 0, Dtype::f32), Error);
  CHECK_THROWS_AS(arange(-1, 1, Dtype::boolean), Error);
  CHECK(linspace(-1, 2, 5).to_vector<float>() == Floats{-1, -0.25, 0.5, 1.25, 2});
  CHECK(linspace(3, 4, 1).to_vector<float>() == Floats{3});
  CHECK(linspace(3, 4, 0).numel() == 0);
  const std::vector<double> tenths = linspace(0, 1, 11, Dtype::f64).to_vector<double>();
  std::vector<double> back = linspace(1, 0, 11, Dtype::f64).to_vector<double>();
  CHECK(tenths.back() == 1);
  CHECK(std::equal(tenths.begin(), tenths.end(), back.rbegin()));
  CHECK(eye(2).to_vector<float>() == Floats{1, 0, 0, 1});
  CHECK(eye(2, 3, Dtype::boolean).to_vector<bool>() ==
        std::vector<bool>{true, false, false, false, true, false});
  CHECK(eye(3, 1).to_vector<float>() == Floats{1, 0, 0});
  const Tensor x = full({2}, 3, Dtype::i64);
  CHECK(zeros_like(x).dtype() == Dtype::i64);
  CHECK(ones_like(x).to_vector<int64_t>() == std::vector<int64_t>{1, 1});
  CHECK(full_like(x, 7).to_vector<int64_t>() == std::vector<int64_t>{7, 7});
}

TEST_CASE("assign overwrites in place and reads any layout") {
  Tensor x = zeros({3, 2});
  const Tensor alias = x;
  assign(x, transposed(two_by_three()));
  CHECK(alias.to_vector<float>() == Floats{1, 4, 2, 5, 3, 6});
  Tensor w = tensor({2, 2}, Floats{1, 2, 3, 4});  // of which the source is a view
  assign(w, transpose(w));
  CHECK(w.to_vector<float>() == Floats{1, 3, 2, 4});
}

TEST_CASE("sole_owner sees other handles, views and detached tensors") {
  Tensor x = zeros({2});
  CHECK(raw::sole_owner(x));
  {
    const Tensor handle = x;
    CHECK_FALSE(raw::sole_owner(x));
  }
  CHECK(raw::sole_owner(x));
  {
    const Tensor view = raw::as_strided(x, {1}, {1});
    CHECK_FALSE(raw::sole_owner(x));
  }
  const Tensor detached = x.detach();
  CHECK_FALSE(raw::sole_owner(x));
  CHECK_FALSE(raw::sole_owner(Tensor()));
}

TEST_CASE("views outside of their storage are refused") {
  const int64_t huge = std::numeric_limits<int64_t>::max();
  const Tensor x = ones({2});
  for (const int64_t stride : {huge, -huge, huge / 2 + 1, int64_t{-1}}) {
    CAPTURE(stride);
    CHECK_THROWS_AS(raw::as_strided(x, {3}, {stride}), Error);
    CHECK_THROWS_AS(raw::as_strided(x, {2, 3}, {stride, stride}), Error);
  }
  for (const int64_t offset : {huge, int64_t{-1}})
    CHECK_THROWS_AS(raw::as_strided(x, {1}, {1}, offset), Error);
}

TEST_CASE("a trainable temporary lives as long as its name") {
  const Tensor& w = ones({3}).set_trainable();
  Tape tape;
  tape.backward(sum(w * 2.0));
  CHECK(w.grad().to_vector<double>() == Doubles(3, 2));
}

}  // namespace isobar::tensor_test
