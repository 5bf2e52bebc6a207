// Layout and einsum: values that PyTorch 1.13.1 prints, edges, and what is refused.
#include <doctest/doctest.h>

#include <limits>

#include "../autograd/ops.h"
#include "../core/raw.h"
#include "message_of.h"
#include "thread_counts.h"

namespace isobar::layout_test {
namespace {

using Numbers = std::vector<double>;

// 0, 1, 2, … in this shape.
Tensor counted(const Shape& shape) { return reshape(arange(shape.numel(), Dtype::f64), shape); }

}  // namespace

TEST_CASE("layouts give PyTorch's values") {
  const Tensor x = counted({2, 3}), m = counted({3, 4});
  CHECK(pad(x, {1, -1, 0, 1}, 9).to_vector<double>() == Numbers{9, 0, 1, 9, 3, 4, 9, 9, 9});
  CHECK(flip(x, {1}).to_vector<double>() == Numbers{2, 1, 0, 5, 4, 3});
  CHECK(tril(m, 1).to_vector<double>() == Numbers{0, 1, 0, 0, 4, 5, 6, 0, 8, 9, 10, 11});
  CHECK(triu(m, -1).to_vector<double>() == Numbers{0, 1, 2, 3, 4, 5, 6, 7, 0, 9, 10, 11});
  CHECK(cumsum(x, 1).to_vector<double>() == Numbers{0, 1, 3, 3, 7, 12});
  CHECK(stack({x, x}, -1).shape() == Shape{2, 3, 2});
  CHECK(expand(counted({3, 1}), {2, -1, 4}).shape() == Shape{2, 3, 4});
  CHECK(expand(counted({3}), {1, 1, 1, 1, 2, 3}).shape() == Shape{1, 1, 1, 1, 2, 3});
}

TEST_CASE("layouts keep integers and infinities") {
  const Tensor words = arange(6);
  CHECK(pad(words, {1, 1}, -100).to_vector<int64_t>() == std::vector<int64_t>{-100, 0, 1, 2, 3, 4, 5, -100});
  CHECK(flip(words, {0}).to_vector<int64_t>() == std::vector<int64_t>{5, 4, 3, 2, 1, 0});
  CHECK(tril(reshape(words, {2, 3})).to_vector<int64_t>() == std::vector<int64_t>{0, 0, 0, 3, 4, 0});
  const double infinity = std::numeric_limits<double>::infinity();
  CHECK(triu(full({2, 2}, infinity)).to_vector<double>() == Numbers{infinity, infinity, 0, infinity});
}

TEST_CASE("split gives PyTorch's pieces, and views of x") {
  const auto extents = [](const std::vector<Tensor>& pieces) {
    std::vector<int64_t> result;
    for (const Tensor& piece : pieces) result.push_back(piece.size(0));
    return result;
  };
  CHECK(extents(split(counted({5}), 2)) == std::vector<int64_t>{2, 2, 1});
  CHECK(extents(split(counted({4}), 4)) == std::vector<int64_t>{4});
  CHECK(extents(split(counted({0}), 2)) == std::vector<int64_t>{0});
  CHECK(extents(split(counted({0}), 0)) == std::vector<int64_t>{0});
  const Tensor x = counted({4, 6});
  for (const Tensor& piece : split(x, {1, 5}, 1)) CHECK(raw::storage(piece) == raw::storage(x));
}

TEST_CASE("pad refuses amounts that overflow") {
  constexpr int64_t most = std::numeric_limits<int64_t>::max(), least = std::numeric_limits<int64_t>::min();
  const Tensor x = counted({10});
  for (const std::vector<int64_t>& amounts : std::vector<std::vector<int64_t>>{
           {most, 0}, {0, most}, {most, most}, {most, least}, {least, most}, {most - 10, 10}, {least, least}})
    CHECK_THROWS_AS(pad(x, amounts), Error);
  CHECK_THROWS_AS(pad(counted({0, 10}), {most - 10, 0}), Error);
}

TEST_CASE("pad names the dimension that is too short") {
  CHECK(message_of([] {
          pad(counted({2, 3}), {-2, -2});
        }) ==
        "pad: -2 and -2 do not fit dimension 1 of [2, 3]; a negative amount may take away up to 3 in all");
  CHECK(message_of([] {
          pad(counted({2, 3}), {0, 0, 5, -3});
        }) ==
        "pad: 5 and -3 do not fit dimension 0 of [2, 3]; a negative amount may take away up to 2 in all");
  CHECK(message_of([] {
          pad(counted({3}), {-5, 10});
        }) == "pad: -5 and 10 do not fit dimension 0 of [3]; a negative amount may take away up to 3 in all");
  CHECK(message_of([] { pad(counted({2}), {1}); }) ==
        "pad: wanted two numbers for each of the last dimensions of [2], got 1 numbers");
}

TEST_CASE("layouts name what does not fit, and the repair") {
  CHECK(message_of([] {
          stack({counted({2}), counted({3})});
        }) == "stack: wanted tensors of one shape and dtype, got [2] f64 and [3] f64");
  CHECK(message_of([] { stack({}); }) == "stack: wanted at least one tensor");
  CHECK(message_of([] { split(counted({5}), 0); }) == "split: cannot cut 5 rows into pieces of 0");
  CHECK(message_of([] {
          split(counted({5}), {2, 2});
        }) == "split: the sizes 2, 2 must add up to 5, dimension 0 of [5]");
  CHECK(message_of([] {
          split(counted({5}), {7, -2});
        }) == "split: the sizes 7, -2 must add up to 5, dimension 0 of [5]");
  CHECK(message_of([] { flip(counted({2, 3}), {0, -2}); }) == "flip: dimension 0 of [2, 3] is named twice");
  CHECK(message_of([] { tril(counted({3})); }) ==
        "tril: wanted matrices in the last two dimensions, got [3]");
  CHECK(message_of([] { triu(counted({})); }) == "triu: wanted matrices in the last two dimensions, got []");
  for (const std::vector<int64_t>& sizes : std::vector<std::vector<int64_t>>{
           {4, 3}, {2, 2}, {3}, {-1, 2, 3}, {2, -2}, {0, 3}, {1, 1, 1, 1, 1, 2, 3}})
    CHECK(message_of([&] {
            expand(counted({2, 3}), sizes);
          }).starts_with("expand: [2, 3] does not expand to ["));
}

TEST_CASE("cumsum adds in double, with the same bits for 1, 2, 3 and 8 threads") {
  // 2²⁴ + 1 + 1 is 2²⁴ where f32 adds one by one.
  CHECK(cumsum(tensor({3}, std::vector<float>{16777216, 1, 1}), 0).at({2}) == 16777218);
  const Tensor x = Rng(1).normal({3, 513, 70});
  std::vector<std::vector<float>> sums;
  for_thread_counts([&] { sums.push_back(cumsum(x, 1).to_vector<float>()); });
  for (const auto& sum : sums) CHECK(sum == sums[0]);
}

TEST_CASE("einsum sums over the letters that the output leaves out, in any order of letters") {
  const Tensor a = counted({2, 3}), b = counted({3, 2}), c = counted({2, 2}), d = counted({1, 3});
  const auto values = [](std::string_view equation, const std::vector<Tensor>& xs) {
    return einsum(equation, xs).to_vector<double>();
  };
  CHECK(values("ij->ji", {a}) == Numbers{0, 3, 1, 4, 2, 5});
  CHECK(values("ij->j", {a}) == Numbers{3, 5, 7});
  CHECK(values("ij,jk", {a, b}) == Numbers{10, 13, 28, 40});
  CHECK(values("ij,jk->ki", {a, b}) == Numbers{10, 28, 13, 40});
  CHECK(values("ij,ik->jk", {a, c}) == Numbers{6, 9, 8, 13, 10, 17});
  CHECK(values("ij,kj->ik", {a, d}) == Numbers{5, 14});
  CHECK(values("ij,ij->ji", {a, a}) == Numbers{0, 9, 1, 16, 4, 25});
}

TEST_CASE("einsum says what it does not cover") {
  const Tensor m = counted({2, 2});
  const std::string covered = "; wanted one or two operands of distinct letters, as in \"bij,bjk->bik\"";
  CHECK(message_of([&] { einsum("ii->i", {m}); }) ==
        "einsum: cannot read \"ii->i\": 'i' occurs twice in \"ii\"" + covered);
  CHECK(message_of([&] { einsum("...ij->...ji", {m}); }) ==
        "einsum: cannot read \"...ij->...ji\": '.' is not a letter" + covered);
  CHECK(message_of([&] {
          einsum("ij,jk,kl->il", {m, m, m});
        }) == "einsum: cannot read \"ij,jk,kl->il\" with 3 operands" + covered);
  CHECK(message_of([&] { einsum("ij,jk->ik", {m}); }) ==
        "einsum: \"ij,jk->ik\" names 2 operands, got 1 tensors");
  CHECK(message_of([&] { einsum("ijk->i", {m}); }) ==
        "einsum: \"ijk\" of \"ijk->i\" needs 3 dimensions, got [2, 2]");
  CHECK(message_of([&] { einsum("ij->ik", {m}); }) ==
        "einsum: the output of \"ij->ik\" has the letter 'k', which no operand has");
  CHECK(message_of([&] {
          einsum("ij,jk->ik", {m, counted({3, 2})});
        }) == "einsum: 'j' is 2 in \"ij\" [2, 2] and 3 in \"jk\" [3, 2]");
}

}  // namespace isobar::layout_test
