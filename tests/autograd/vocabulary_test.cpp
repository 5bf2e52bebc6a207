// Elementwise functions, masks and reductions at their edges, against what PyTorch 1.13.1 printed and what
// IEEE arithmetic or the definition says.
#include "../../autograd/tape.h"
#include "../op_table.h"
#include "../same_tensors.h"
#include "../small_tensors.h"

namespace isobar::vocabulary_test {

using Bools = std::vector<bool>;

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// The value, and the gradient of its sum by each input, on a tape of either kind.
void check_op(const TensorFunction& f, const std::vector<Doubles>& inputs, const Doubles& wanted,
              const std::vector<Doubles>& slopes) {
  for (const bool higher_order : {false, true}) {
    CAPTURE(higher_order);
    std::vector<Tensor> x;
    for (const Doubles& values : inputs) x.push_back(row(values).set_trainable());
    Tape tape({.higher_order = higher_order});
    const Tensor y = f(x);
    check_values(y, wanted, 1e-14);
    const std::vector<Tensor> dx = tape.gradient(y, x, ones(y.shape(), y.dtype()));
    for (size_t i = 0; i < x.size(); ++i) {
      CAPTURE(i);
      check_values(dx[i], slopes[i], 1e-14);
    }
  }
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
  const Tensor p = tensor({4}, Bools{true, true, false, false}),
               q = tensor({4}, Bools{true, false, true, false});
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

TEST_CASE("softplus and logsumexp stay finite where exponentials overflow") {
  check_op([](In x) { return softplus(x[0]); }, {{-1000, 0, 1000, nan}}, {0, std::log(2), 1000, nan},
           {{0, 0.5, 1, nan}});
  check_op([](In x) { return logsumexp(x[0]); }, {{1000, 1000}}, {1000 + std::log(2)}, {{0.5, 0.5}});
  check_op([](In x) { return logsumexp(x[0]); }, {{-inf, 1}}, {1}, {{0, 1}});
  check_values(logsumexp(row({-inf, -inf})), {-inf});
  check_values(logsumexp(row({inf, 1})), {inf});
  // In f32 the gradient keeps its digits at 10⁸, where the value has none after the point.
  const Tensor x = row({1e8f, 1e8f}, Dtype::f32).set_trainable();
  Tape tape;
  tape.backward(logsumexp(x));
  check_values(x.grad(), {0.5, 0.5});
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

TEST_CASE("a length has slope 0 at zero, for every p") {
  const double third = std::pow(2, -2.0 / 3);
  for (const auto& [power, value, slope] :
       std::vector<std::tuple<double, double, double>>{{1, 6, 1},
                                                       {2, std::sqrt(18), std::sqrt(0.5)},
                                                       {inf, 3, 0.5},
                                                       {3, 3 * std::cbrt(2), third},
                                                       {0.5, 12, 2}}) {
    const double p = power;
    CAPTURE(p);
    const auto length = [p](In x) { return norm(x[0], p); };
    check_op(length, {{0, 0}}, {0}, {{0, 0}});
    check_op(length, {{3, -3, 0}}, {value}, {{slope, -slope, 0}});
  }
  CHECK(norm(full({3}, 1e30)).item() == doctest::Approx(std::sqrt(3) * 1e30));  // squares overflow f32
}

TEST_CASE("argmax and argmin find the first of ties and the first NaN") {
  CHECK(argmax(row({1, nan, 3, nan})).item() == 1);
  CHECK(argmin(row({1, nan, 3})).item() == 1);
  CHECK(argmax(row({1, 3, 3})).item() == 1);
  CHECK(argmin(row({3, 1, 1})).dtype() == Dtype::i64);
  const Tensor x = tensor({2, 3}, Doubles{1, 5, 2, 7, 0, 7});
  CHECK(argmax(x).item() == 3);
  CHECK(argmax(x, -1).to_vector<int64_t>() == std::vector<int64_t>{1, 0});
  CHECK(argmin(x, 0, true).shape() == Shape{1, 3});
  CHECK(argmax(arange(4)).item() == 3);
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

TEST_CASE("a variance far from zero keeps its digits") {
  // 1e6 + {0, 1/8, 1/4, 3/8} has no rounding in f32; Σ (x − mean)² = 5/64.
  for (const Dtype dtype : {Dtype::f32, Dtype::f64})
    for (const bool higher_order : {false, true}) {
      CAPTURE(higher_order);
      const Tensor x = raw::cast(row({1e6, 1e6 + 0.125, 1e6 + 0.25, 1e6 + 0.375}), dtype).set_trainable();
      Tape tape({.higher_order = higher_order});
      const Tensor v = var(x, {0}, false, 0);
      CHECK(v.item() == 5.0 / 256);
      check_values(tape.gradient(v, {x})[0], {-0.09375, -0.03125, 0.03125, 0.09375});
    }
}

TEST_CASE("a variance of too few elements is what PyTorch says") {
  check_values(var(zeros({0}, Dtype::f64)), {nan});
  check_values(var(zeros({0}, Dtype::f64), std::nullopt, false, 0), {nan});
  check_values(var(row({5})), {nan});
  check_values(var(row({1, 3}), {0}, false, 3), {inf});
  check_op([](In x) { return std_dev(x[0]); }, {{2, 2, 2}}, {0}, {{0, 0, 0}});
  CHECK(std_dev(row({1, 3}), std::nullopt, false, 0).item() == 1);
}

TEST_CASE("causal attention is finite on a higher-order tape that detects anomalies") {
  const Tensor q = Rng(1).normal({1, 3, 1, 2}, 0, 1, Dtype::f64).set_trainable();
  Tape tape({.higher_order = true, .detect_anomaly = true});
  const Tensor y = attention(q, q, q);
  const Tensor dq = tape.gradient(sum(y), {q})[0];
  CHECK(all_finite(tape.gradient(sum(square(dq)), {q})[0]));
}

// A bool is no axis, and a number no keepdim.
template <class T>
constexpr bool mixed_up = requires(T x) {
  mean(x, {-1, true});
}
|| requires(T x) { sum(x, {true}); }
|| requires(T x) { var(x, {0}, 0); }
|| requires(T x) { std_dev(x, std::nullopt, 0); }
|| requires(T x) { max(x, {0}, 1); }
|| requires(T x) { logsumexp(x, {0}, 0.5); }
|| requires(T x) { argmax(x, true); }
|| requires(T x) { argmin(x, 0, 1); }
|| requires(T x) { norm(x, true); }
|| requires(T x) { norm(x, 2, {0, true}); }
|| requires(T x) { any(x, {0}, 1); };
static_assert(!mixed_up<Tensor>);
template <class T>
constexpr bool right = requires(T x, int64_t dim) {
  mean(x, {-1}, true);
  sum(x, std::vector<int>{0, 1}, false);
  var(x, {0}, false, 0);
  std_dev(x, std::nullopt, false, 0);
  argmax(x, 1, true);
  argmax(x, dim);
  norm(x, 2, {0, -1});
  norm(x, 1);
};
static_assert(right<Tensor>);

TEST_CASE("a standard deviation has the range of its dtype, and so has its gradient") {
  for (const double scale : {1e-30, 1e-25, 1.0, 1e19, 1e25, 1e37})
    for (const bool higher_order : {false, true}) {
      INFO("scale ", scale, ", higher_order ", higher_order);
      const Tensor x = raw::cast(row({1, 2, 3, 6}) * scale, Dtype::f32).set_trainable();
      Tape tape({.higher_order = higher_order});
      const Tensor y = std_dev(x, {0}, true, 0);  // √3.5, and (x − 3) / (4 √3.5)
      CHECK(y.item() / scale == doctest::Approx(std::sqrt(3.5)));
      check_values(tape.gradient(y, {x})[0] * (4 * std::sqrt(3.5)), {-2, -1, 0, 3}, 1e-5);
    }
}

}  // namespace isobar::vocabulary_test
