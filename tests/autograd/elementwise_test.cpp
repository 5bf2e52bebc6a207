// Elementwise functions, comparisons and masks at their edges, as IEEE arithmetic or PyTorch 1.13.1 has them.
#include "op_edges.h"

namespace isobar::elementwise_test {

Doubles gradient_of(const TensorFunction& f, Tensor x) {
  x.set_trainable();
  Tape tape;
  const Tensor y = f({x});
  return tape.gradient(y, {x})[0].to_vector<double>();
}

TEST_CASE("elementwise ops treat infinity and NaN as IEEE says") {
  for_both_dtypes([](Dtype dtype) {
    const Tensor edge = row({-inf, 0, inf, nan}, dtype);
    check_values(exp(edge), {0, 1, inf, nan});
    check_values(tanh(edge), {-1, 0, 1, nan});
    check_values(sigmoid(edge), {0, 0.5, 1, nan});
    check_values(erf(edge), {-1, 0, 1, nan});
    check_values(relu(edge), {0, 0, inf, nan});
    check_values(squared_relu(edge), {0, 0, inf, nan});
    check_values(square(edge), {inf, 0, inf, nan});
    check_values(log(row({-1, 0, 1, inf, nan}, dtype)), {nan, -inf, 0, inf, nan});
    check_values(sqrt(row({-1, 0, 4, inf, nan}, dtype)), {nan, 0, 2, inf, nan});
    check_values(reciprocal(row({0, 4, inf, nan}, dtype)), {inf, 0.25, 0, nan});
    check_values(row({0, 1, inf}, dtype) / row({0, 0, inf}, dtype), {nan, inf, nan});
  });
}

TEST_CASE("activations stay finite where their exponentials overflow") {
  for_both_dtypes([](Dtype dtype) {
    const Tensor far = row({-1e4, 1e4}, dtype);
    check_values(sigmoid(far), {0, 1});
    check_values(tanh(far), {-1, 1});
    check_values(softcap(far, 50), {-50, 50});
    using Op = Tensor (*)(const Tensor&);
    for (const Op op : {Op{silu}, Op{gelu}, Op{gelu_tanh}}) {
      check_values(op(far), {0, 1e4});
      CHECK(gradient_of([op](In x) { return op(x[0]); }, far) == Doubles{0, 1});
    }
  });
}

TEST_CASE("what stands for a norm has the root of its size, and no bias unless it is given") {
  check_values(dyt_sqrtd(row({-3, 3, 0, 6}), row({0.5}), ones({4}, Dtype::f64), {}),
               {-2 * std::tanh(0.75), 2 * std::tanh(0.75), 0, 2 * std::tanh(1.5)});
  check_values(dyisru(row({-3, 3, 0, 4}), row({std::log(9)}), ones({4}, Dtype::f64), {}),
               {-std::sqrt(2), std::sqrt(2), 0, 1.6});
}

TEST_CASE("relu has slope zero at zero, and passes the gradient on where its input is NaN, as PyTorch does") {
  check_op([](In x) { return squared_relu(x[0]); }, {{-1, 0, 3}}, {0, 0, 9}, {{0, 0, 6}});
  check_op([](In x) { return relu(x[0]); }, {{-1, 0, 1, nan}}, {0, 0, 1, nan}, {{0, 0, 1, 1}});
}

TEST_CASE("a comparison gives a mask; with NaN only != is true") {
  const Tensor a = row({1, 2, nan, 3}), b = row({1, 3, nan, 2});
  CHECK((a == b).dtype() == Dtype::boolean);
  check_values(a == b, {1, 0, 0, 0});
  check_values(a != b, {0, 1, 1, 1});
  check_values(a < b, {0, 1, 0, 0});
  check_values(a <= b, {1, 1, 0, 0});
  check_values(a > b, {0, 0, 0, 1});
  check_values(a >= b, {1, 0, 0, 1});
  check_values(2 > a, {1, 0, 0, 0});
  check_values(a >= 2, {0, 1, 0, 1});
  CHECK((row({0.1f}, Dtype::f32) == 0.1).item() == 1);
  check_values(arange(3) < 1.5, {1, 1, 0});
  CHECK((reshape(arange(2), {2, 1}) == arange(3)).shape() == Shape{2, 3});
}

TEST_CASE("masks combine, reduce and convert") {
  const Tensor p = tensor({4}, std::vector<bool>{true, true, false, false}),
               q = tensor({4}, std::vector<bool>{true, false, true, false});
  check_values(p && q, {1, 0, 0, 0});
  check_values(p || q, {1, 1, 1, 0});
  check_values(!p, {0, 0, 1, 1});
  CHECK(any(p).item() == 1);
  CHECK(all(p).item() == 0);
  check_values(any(reshape(p, {2, 2}), {1}), {1, 0});
  CHECK(all(reshape(q, {2, 2}), {0}, true).shape() == Shape{1, 2});
  CHECK(any(zeros({0}, Dtype::boolean)).item() == 0);
  CHECK(all(zeros({0}, Dtype::boolean)).item() == 1);
  check_values(cast(p, Dtype::f64), {1, 1, 0, 0});
  check_values(cast(row({0, 0.5, nan}), Dtype::boolean), {0, 1, 1});
}

TEST_CASE("where leaves NaN on the side that is not chosen, in values and gradients") {
  check_op([](In x) { return where(x[0] > 0, x[0], x[1]); }, {{1, -1}, {nan, 2}}, {1, 2}, {{1, 0}, {0, 1}});
  const Tensor x = row({1, -1}).set_trainable();
  Tape tape;
  tape.backward(where(x > 0, x, 0), row({3, nan}));
  check_values(x.grad(), {3, 0});
}

TEST_CASE("of equal elements minimum and maximum give each half of the gradient") {
  check_op([](In x) { return maximum(x[0], x[1]); }, {{nan, 1, 2, 0}, {1, nan, 2, 3}}, {nan, nan, 2, 3},
           {{1, 1, 0.5, 0}, {1, 1, 0.5, 1}});
  check_op([](In x) { return minimum(x[0], x[1]); }, {{nan, 1, 2, 0}, {1, nan, 2, 3}}, {nan, nan, 2, 0},
           {{1, 1, 0.5, 1}, {1, 1, 0.5, 0}});
}

TEST_CASE("kinks have the slopes of PyTorch") {
  check_op([](In x) { return abs(x[0]); }, {{nan, 0, -2}}, {nan, 0, 2}, {{0, 0, -1}});
  check_op([](In x) { return sign(x[0]); }, {{nan, 0, 2, -inf}}, {0, 0, 1, -1}, {{0, 0, 0, 0}});
  check_op([](In x) { return clamp(x[0], -1, 1); }, {{nan, -1, 1, 2, -2, 0}}, {nan, -1, 1, 1, -1, 0},
           {{0, 1, 1, 0, 0, 1}});
  check_values(clamp(row({0, 5}), 3, 1), {1, 1});
  check_values(clamp(row({0, 5}), {}, 3), {0, 3});
  check_op([](In x) { return min(x[0]); }, {{1, 1, 2}}, {1}, {{0.5, 0.5, 0}});
  check_values(min(row({1, nan, 3})), {nan});
}

TEST_CASE("powers of zero and by zero have the slopes of PyTorch") {
  check_op([](In x) { return pow(x[0], 0); }, {{0, nan, 2}}, {1, 1, 1}, {{0, 0, 0}});
  check_op([](In x) { return pow(x[0], 0.5); }, {{0, -1, 4}}, {0, nan, 2}, {{inf, nan, 0.25}});
  check_op([](In x) { return pow(0, x[0]); }, {{0, 2, -1}}, {1, 0, inf}, {{0, 0, -inf}});
  check_op([](In x) { return pow(x[0], x[1]); }, {{0, 0, 0, -2, 2, nan, 1}, {0, 2, -1, 2, 3, 0, nan}},
           {1, 0, inf, 4, 8, 1, 1},
           {{0, 0, -inf, -4, 12, 0, nan}, {0, 0, -inf, nan, 5.545177444479562, nan, 0}});
}

TEST_CASE("sin and cos keep their digits for large arguments, log1p and expm1 for small ones") {
  for (const double v : {3.0, 1e3, 1e6, 1e15, 1e22})
    for (const float f : {static_cast<float>(v)}) {
      CAPTURE(v);
      CHECK(std::abs(sin(row({v})).item() - std::sin(v)) <= 3e-16);
      CHECK(std::abs(cos(row({v})).item() - std::cos(v)) <= 3e-16);
      CHECK(std::abs(sin(row({f}, Dtype::f32)).item() - std::sin(double{f})) <= 2e-7);
      CHECK(std::abs(cos(row({f}, Dtype::f32)).item() - std::cos(double{f})) <= 2e-7);
    }
  check_values(log1p(row({1e-20, -1, -2, inf})), {1e-20, -inf, nan, inf});
  check_values(expm1(row({1e-20, -inf, nan})), {1e-20, -1, nan});
  CHECK(pow(row({1.5}), 1000).item() == doctest::Approx(std::pow(1.5, 1000)).epsilon(1e-15));
}

TEST_CASE("division by a number divides") {
  CHECK((row({49}) / 49).item() == 1);
  for (const Dtype dtype : {Dtype::f32, Dtype::f64})
    for (int64_t n = 1; n < 500; ++n) CHECK(mean(ones({n}, dtype)).item() == 1);
  CHECK(var(ones({49}, Dtype::f64)).item() == 0);
  check_values(row({0, 1e-310}) / 1e-310, {0, 1});
  check_values(row({0, 1e-39f}, Dtype::f32) / static_cast<double>(1e-39f), {0, 1});
  CHECK(std::signbit((-row({0})).item()));
  CHECK(std::signbit((row({-0.0}) * 2).item()));
}

}  // namespace isobar::elementwise_test
