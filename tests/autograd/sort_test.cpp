// Sorting, the largest with their places, one_hot; arithmetic of integers; sizes and places counted from the
// back. The oracle is the definition; gradients are rows of the op table.
#include "op_edges.h"

namespace isobar::sort_test {

TEST_CASE("sort keeps the order of ties and counts NaN as the largest") {
  const Tensor x = tensor({3, 1, nan, -inf, 1, inf, 3});
  CHECK(sort(x).indices.to_vector<double>() == Doubles{3, 1, 4, 0, 6, 5, 2});
  CHECK(sort(x, 0, true).indices.to_vector<double>() == Doubles{2, 5, 0, 6, 1, 4, 3});
  CHECK(topk(x, 2, -1, false).values.to_vector<double>() == Doubles{-inf, 1});
  CHECK(sort(tensor({2, 3}, {3, 1, 2, 6, 5, 4}, Dtype::i32), 0, true).values.to_vector<double>() ==
        Doubles{6, 5, 4, 3, 1, 2});
  CHECK(sort(zeros({0, 3}), 0).values.shape() == Shape{0, 3});
}

TEST_CASE("max_with_indices gives its gradient to the first of ties") {
  const Tensor x = tensor({2, 3}, {1, 5, 5, 2, 0, -1}).set_trainable();
  Tape tape;
  const Sorted largest = max_with_indices(x, 1);
  CHECK(largest.indices.to_vector<double>() == Doubles{1, 0});
  tape.backward(sum(largest.values));
  CHECK(x.grad().to_vector<double>() == Doubles{0, 1, 0, 1, 0, 0});
}

TEST_CASE("one_hot has a one at each index") {
  CHECK(one_hot(tensor({2, 0}, Dtype::i64), 3).to_vector<double>() == Doubles{0, 0, 1, 1, 0, 0});
  CHECK(one_hot(zeros({2, 0}, Dtype::i32), 4, Dtype::boolean).shape() == Shape{2, 0, 4});
}

TEST_CASE("one_hot of labels and of answers make a confusion matrix") {
  const Tensor y = tensor({0, 1, 1, 2, 2, 2}, Dtype::i64), answer = tensor({0, 1, 2, 2, 2, 0}, Dtype::i64);
  CHECK(matmul(transpose(one_hot(y, 3)), one_hot(answer, 3)).to_vector<double>() ==
        Doubles{1, 0, 0, 0, 1, 1, 1, 0, 2});
}

TEST_CASE("integers are added, subtracted and multiplied exactly") {
  const Tensor most = full({1}, -1, Dtype::i64) * 9007199254740992 * 1024;  // −2⁶³
  CHECK((1 - 2 * (arange(3) + 1)).to_vector<int64_t>() == std::vector<int64_t>{-1, -3, -5});
  CHECK((arange(3, Dtype::i32) * arange(3, Dtype::i32)).to_vector<int32_t>() ==
        std::vector<int32_t>{0, 1, 4});
  CHECK((most + 1).to_vector<int64_t>()[0] == std::numeric_limits<int64_t>::min() + 1);
  CHECK((-1 - most).to_vector<int64_t>()[0] == std::numeric_limits<int64_t>::max());
  CHECK((full({1}, -1, Dtype::i64) - -0x1p63).to_vector<int64_t>()[0] == std::numeric_limits<int64_t>::max());
}

TEST_CASE("sizes and places may be counted from the back") {
  const Tensor x = tensor({2, 3}, {1, 2, 3, 4, 5, 6});
  CHECK(x.at({-1, -2}) == 5);
  CHECK(select(x, 0, -1).to_vector<double>() == Doubles{4, 5, 6});
  CHECK(slice(x, 1, -2, 3).to_vector<double>() == Doubles{2, 3, 5, 6});
  CHECK(reshape(x, {-1}).shape() == Shape{6});
}

TEST_CASE("argmax and argmin find the first of ties and the first NaN") {
  CHECK(argmax(row({1, nan, 3, nan})).item() == 1);
  CHECK(argmin(row({1, nan, 3})).item() == 1);
  CHECK(argmax(row({1, 3, 3})).item() == 1);
  CHECK(argmax(row({3})).item() == 0);
  CHECK(argmin(row({3, 1, 1})).dtype() == Dtype::i64);
  const Tensor x = tensor({2, 3}, Doubles{1, 5, 2, 7, 0, 7});
  CHECK(argmax(x).item() == 3);
  CHECK(argmax(x, -1).to_vector<int64_t>() == std::vector<int64_t>{1, 0});
  CHECK(argmin(x, 0, true).shape() == Shape{1, 3});
  CHECK(argmax(arange(4)).item() == 3);
}

}  // namespace isobar::sort_test
