// Formulas of lambdas: each function against the op of the same name on tensors, kinks, and what pointwise()
// refuses. The op table has the rows of the library's own pointwise ops.
#include "../../autograd/pointwise.h"
#include "../message_of.h"
#include "../same_tensors.h"

namespace isobar::pointwise_test {

using kernels::Lane;
using kernels::None;
using kernels::Slopes;

Tensor numbers(const char* name, const Shape& shape) {
  return Rng(3).split(name).uniform(shape, 0.2, 2, Dtype::f64);
}

// The value, then the gradients by both inputs; on vector registers, or composed of the ops on tensors.
template <class F>
std::vector<Tensor> derived(const F& f, const Tensor& a, const Tensor& b, bool composed) {
  const Tensor x = a.detach().set_trainable(), z = b.detach().set_trainable();
  Tape tape({.higher_order = composed});
  const Tensor y = pointwise("formula", f, x, z);
  std::vector<Tensor> all{y};
  for (const Tensor& dx : tape.gradient(y, {x, z})) all.push_back(dx);
  return all;
}

template <class F>
void check_formula(const char* name, const F& f) {
  CAPTURE(name);
  const Tensor x = numbers("x", {5, 7}), z = numbers("z", {5, 7});
  const std::vector<Tensor> fused = derived(f, x, z, false), composed = derived(f, x, z, true);
  for (size_t i = 0; i < fused.size(); ++i) {
    CAPTURE(i);
    CHECK(difference(fused[i], composed[i]) <= 1e-13);  // some hundred roundings of f64
  }
}

// dy/dx of a formula of one number, by duals.
template <class F>
double slope_at(double x, const F& f) {
  const auto y = f(kernels::seed<0>(Lane<double>(x), std::index_sequence<0>()));
  return std::get<0>(kernels::slopes_of(y)).v[0];
}

TEST_CASE("a formula on registers equals the same formula on tensors, and so do its slopes") {
  check_formula("sums and products",
                [](auto x, auto z) { return (x + z) * (x - 2) / (z + 1) - x * -z + 3 / x; });
  check_formula("exponentials", [](auto x, auto z) { return exp(x) + expm1(z) * log(x) - log1p(x * z); });
  check_formula("squashing",
                [](auto x, auto z) { return tanh(x) + erf(z) * sigmoid(x) + softplus(x - z) * silu(z); });
  check_formula("powers",
                [](auto x, auto z) { return sqrt(x) + rsqrt(z) * square(x) + pow(x, 2.5) - reciprocal(z); });
  check_formula("a shared factor that meets its inputs again", [](auto x, auto z) {
    const auto t = tanh(x * z);
    return exp(t * x) * (t + cos(sin(x + z))) * z;
  });
  check_formula("waves", [](auto x, auto z) { return sin(3 * x) * cos(z); });
  check_formula("steps", [](auto x, auto z) {
    auto y = x * z;
    y = y - sin(y);
    return y;
  });
  check_formula("isru", [](auto x, auto z) { return isru(x, z) * isru(z, square(x) + 1); });
  check_formula("choices", [](auto x, auto z) {
    const auto larger = maximum(x, z), smaller = minimum(1, z) * minimum(x, 0.7);
    return where(x > z && !(z >= 1), larger * x, smaller) + abs(x - z) * sign(x - 1) + relu(z - 1);
  });
  check_formula("masks", [](auto x, auto z) {
    return where(x < 1 || z <= 0.5, x, 2) + where(x == z, 1, z) + where(x != 1, 3 * z, z);
  });
  check_formula("an input that does not matter", [](auto x, auto) { return x * 2; });
}

TEST_CASE("kinks have the slopes of the ops") {
  CHECK(slope_at(0, [](auto x) { return relu(x); }) == 0);
  CHECK(slope_at(0, [](auto x) { return abs(x); }) == 0);
  CHECK(slope_at(0, [](auto x) { return maximum(x, 0); }) == 0.5);
  CHECK(slope_at(0, [](auto x) { return minimum(x, 0); }) == 0.5);
  CHECK(slope_at(3, [](auto x) { return pow(x, 0); }) == 0);
  CHECK(slope_at(1e8, [](auto x) { return isru(x, 1) * 1e24; }) == doctest::Approx(1));  // does not cancel
}

TEST_CASE("the side of where() that is not chosen does not count, even if it is NaN") {
  const auto f = [](auto x) { return where(x <= 0, 0, sqrt(x)); };
  CHECK(slope_at(-1, f) == 0);
  CHECK(slope_at(4, f) == 0.25);
}

TEST_CASE("what a value does not depend on has no slope, by its type; outer functions share a factor") {
  using Pair = std::index_sequence<0, 1>;
  const auto x = kernels::seed<0>(Lane<float>(0.5), Pair());
  const auto z = kernels::seed<1>(Lane<float>(2), Pair());
  using X = Slopes<Lane<float>, None>;
  using Z = Slopes<None, Lane<float>>;
  using Both = Slopes<Lane<float>, Lane<float>>;
  CHECK(std::is_same_v<decltype(slopes_of(exp(2 * x))), X>);
  CHECK(std::is_same_v<decltype(slopes_of(where(x > z, 1, z))), Z>);
  CHECK(std::is_same_v<decltype(slopes_of(x * z + 1)), Both>);
  CHECK(std::is_same_v<decltype(sign(x)), Lane<float>>);
  const auto y = tanh(sin(x * z));
  CHECK(std::is_same_v<std::remove_cvref_t<decltype(y.shared)>, Both>);
  CHECK(std::get<1>(y.shared).v[0] == 0.5f);  // of the product; the factor has sin's and tanh's slopes
}

TEST_CASE("a result without slopes gives gradients of zero") {
  const Tensor x = numbers("x", {3}).set_trainable(), c = numbers("c", {3}).set_trainable();
  Tape tape;
  const Tensor y = pointwise(
      "sign", [](auto v, auto) { return sign(v); }, x, channel(c));
  CHECK(y.to_vector<double>() == std::vector<double>{1, 1, 1});
  for (const Tensor& dx : tape.gradient(y, {x, c}))
    CHECK(dx.to_vector<double>() == std::vector<double>{0, 0, 0});
}

TEST_CASE("rows without elements stay without") {
  CHECK(dyt(zeros({3, 0}), ones({1}), zeros({0}), zeros({0})).shape() == Shape{3, 0});
}

TEST_CASE("pointwise says which argument does not fit") {
  const auto f = [](auto x, auto) { return x; };
  const Tensor x = zeros({2, 4});
  CHECK(message_of([&] { pointwise("f", f, Tensor(), x); }) == "f: x is an undefined tensor");
  CHECK(message_of([&] { pointwise("f", f, x, zeros({4})); }) ==
        "f: wanted tensors of one shape and dtype, got [2, 4] f32 and [4] f32; in pointwise() one number per "
        "channel is channel(weight)");
  CHECK(message_of([&] {
          pointwise("f", f, x, zeros({1}));
        }).ends_with("; in pointwise() one number for all elements is scalar(alpha)"));
  CHECK(message_of([&] { pointwise("f", f, x, scalar(zeros({2}), "alpha")); }) ==
        "f: alpha must be [1], got [2]");
  CHECK(message_of([&] { pointwise("f", f, x, scalar(Tensor(), "alpha")); }) ==
        "f: alpha must be [1], got an undefined tensor");
  CHECK(message_of([&] { pointwise("f", f, x, channel(zeros({3}), "weight")); }) ==
        "f: weight [3] must have the last dimensions of x [2, 4]");
  CHECK(message_of([&] { pointwise("f", f, x, channel({}, "weight")); }) ==
        "f: weight is undefined, and must have the last dimensions of x [2, 4]");
  CHECK(message_of([&] { pointwise("f", f, x, channel(zeros({4}, Dtype::f64), "weight")); }) ==
        "f: x is f32 but weight is f64; convert one with cast()");
}

template <class F>
constexpr bool is_formula(const F&) {
  return pointwise_op::Formula<F, Tensor>;
}

TEST_CASE("a formula captures numbers by value only, and takes one value for each input") {
  double s = 2;
  const int n = 3;
  const bool on = true;
  const Tensor x = numbers("x", {3});
  CHECK(is_formula([](auto v) { return v; }));
  CHECK(!is_formula([](auto v, auto w) { return v * w; }));
  CHECK(is_formula([s, n, on](auto v) { return on ? v * s + n : v; }));
  CHECK(is_formula([inner = [s](auto v) { return v * s; }](auto v) { return inner(v); }));
  CHECK(!is_formula([&s](auto v) { return v * s; }));
  CHECK(!is_formula([&](auto v) { return v * s; }));
  CHECK(!is_formula([p = &s](auto v) { return v * *p; }));
  CHECK(!is_formula([inner = [&s](auto v) { return v * s; }](auto v) { return inner(v); }));
  CHECK(!is_formula([x](auto v) { return v * x.item(); }));
  struct Layer {
    double c = 1;
    bool by_this() {
      return is_formula([this](auto v) { return v * c; });
    }
    bool by_copy() {
      return is_formula([d = c](auto v) { return v * d; });
    }
  } layer;
  CHECK(!layer.by_this());
  CHECK(layer.by_copy());
}

TEST_CASE("scalar() and channel() hold their tensors") {
  const auto s = scalar(full({1}, 7.0, Dtype::f64));
  const auto c = channel(full({3}, 5.0, Dtype::f64));
  const Tensor other = full({1}, 2.0, Dtype::f64), others = full({3}, 2.0, Dtype::f64);
  const Tensor y = pointwise(
      "f", [](auto v, auto a, auto b) { return v * a + b; }, ones({3}, Dtype::f64), s, c);
  CHECK(y.to_vector<double>() == std::vector<double>(3, 12.0));
}

}  // namespace isobar::pointwise_test
