// Layout and einsum: edges, and what is refused. (Values: torch_cases/.)
#include <doctest/doctest.h>

#include <limits>

#include "../../core/raw.h"
#include "../small_tensors.h"

namespace isobar::layout_test {

TEST_CASE("layouts keep integers and infinities") {
  const Tensor words = arange(6);
  CHECK(pad(words, {1, 1}, -100).to_vector<int64_t>() == std::vector<int64_t>{-100, 0, 1, 2, 3, 4, 5, -100});
  CHECK(flip(words, {0}).to_vector<int64_t>() == std::vector<int64_t>{5, 4, 3, 2, 1, 0});
  CHECK(tril(reshape(words, {2, 3})).to_vector<int64_t>() == std::vector<int64_t>{0, 0, 0, 3, 4, 0});
  const double infinity = std::numeric_limits<double>::infinity();
  CHECK(triu(full({2, 2}, infinity)).to_vector<double>() == Doubles{infinity, infinity, 0, infinity});
}

TEST_CASE("index_add adds each element where its index says, two where two say so") {
  const Tensor at = tensor({3}, std::vector<int64_t>{1, 0, 1});
  CHECK(index_add(counted({2}), 0, at, counted({3})).to_vector<double>() == Doubles{1, 3});
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

TEST_CASE("expand refuses what does not expand") {
  for (const std::vector<int64_t>& sizes : std::vector<std::vector<int64_t>>{
           {4, 3}, {2, 2}, {3}, {-1, 2, 3}, {2, -2}, {0, 3}, {1, 1, 1, 1, 1, 2, 3}})
    CHECK_THROWS_WITH_AS(expand(f32(2, 3), sizes), doctest::Contains("expand: [2, 3] does not expand to ["),
                         Error);
}

TEST_CASE("cumsum adds in double") {
  // 2²⁴ + 1 + 1 is 2²⁴ where f32 adds one by one.
  CHECK(cumsum(tensor({3}, std::vector<float>{16777216, 1, 1}), 0).at({2}) == 16777218);
}

TEST_CASE("einsum sums over the letters that the output leaves out, in any order of letters") {
  const Tensor a = counted({2, 3}), b = counted({3, 2}), c = counted({2, 2}), d = counted({1, 3});
  const auto values = [](std::string_view equation, const std::vector<Tensor>& xs) {
    return einsum(equation, xs).to_vector<double>();
  };
  CHECK(values("AZ->ZA", {a}) == Doubles{0, 3, 1, 4, 2, 5});
  CHECK(values("ij->j", {a}) == Doubles{3, 5, 7});
  CHECK(values("ij,jk", {a, b}) == Doubles{10, 13, 28, 40});
  CHECK(values("ij,jk->ki", {a, b}) == Doubles{10, 28, 13, 40});
  CHECK(values("az,ak->zk", {a, c}) == Doubles{6, 9, 8, 13, 10, 17});
  CHECK(values("ij,kj->ik", {a, d}) == Doubles{5, 14});
  CHECK(values("ij,ij->ji", {a, a}) == Doubles{0, 9, 1, 16, 4, 25});
}

TEST_CASE("views share their storage") {
  const Tensor x = counted({3, 4});
  for (const Tensor& view : {transpose(x), permute(x, {1, 0}), reshape(x, {1, 1, 1, 1, -1, 12}),
                             slice(x, 0, 1, 2), broadcast_to(x, {2, 3, 4})})
    CHECK(raw::storage(view) == raw::storage(x));
}

}  // namespace isobar::layout_test
