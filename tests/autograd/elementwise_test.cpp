// Elementwise functions, comparisons and masks at their edges, as IEEE arithmetic or PyTorch 1.13.1 has them.
#include <numbers>

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

TEST_CASE("the mixed second derivative of a power is a^(b - 1) (1 + b ln a), in either order, at 0 too") {
  const Tensor a = leaf(row({2, 0.25, 0, 0, 3})), b = leaf(row({0, 0, 2, 3.5, 2}));
  for (const bool by_a_first : {true, false}) {
    CAPTURE(by_a_first);
    Tape tape({.higher_order = true});
    const Tensor y = pow(a, b), first = tape.gradient(y, {by_a_first ? a : b})[0];
    check_values(tape.gradient(first, {by_a_first ? b : a})[0], {0.5, 4, 0, 0, 3 * (1 + 2 * std::log(3))},
                 1e-14);
    check_values(tape.gradient(y, {a})[0], {0, 0, 0, 0, 6});
  }
  const Tensor zero = leaf(row({0})), none = leaf(row({0}));  // no derivative here, and none is NaN
  Tape tape({.higher_order = true});
  const std::vector<Tensor> slopes = tape.gradient(pow(zero, none), {zero, none});
  for (const Tensor& slope : slopes)
    for (const Tensor& second : tape.gradient(slope, {zero, none})) check_values(second, {0});
}

TEST_CASE("bounded activations keep their values and slopes where squares overflow") {
  for (const bool higher_order : {false, true})
    for_both_dtypes([&](Dtype dtype) {
      CAPTURE(higher_order);
      for (const double size :
           dtype == Dtype::f32 ? Doubles{1e18, 1e20, 1e38} : Doubles{1e153, 1e156, 1e307}) {
        CAPTURE(size);
        Tensor x = row({size, -size}, dtype).set_trainable(), w = row({3, 3}, dtype).set_trainable();
        Tape tape({.higher_order = higher_order});
        const Tensor one = ones({1}, dtype), y = isru(x, one), z = gelu_tanh(x);
        check_values(y, {1, -1}, 1e-6);
        check_values(z, {x.at({0}), 0});
        check_values(tape.gradient(sum(z), {x})[0], {1, 0});
        for (const double log_c : {0.0, 5.0}) {
          const Tensor t = dyisru(x, full({1}, log_c, dtype), w, {});
          check_values(t, {3 * std::sqrt(2), -3 * std::sqrt(2)}, 1e-6);
          const std::vector<Tensor> gradients = tape.gradient(sum(t), {x, w});
          check_values(gradients[0], {0, 0}, 1e-15);
          check_values(gradients[1], {std::sqrt(2), -std::sqrt(2)}, 1e-6);
        }
      }
    });
}

TEST_CASE(
    "the slopes of isru and dyisru keep their digits where x² is far above c, on a tape of either kind") {
  for (const bool higher_order : {false, true})
    for (const double size : {1.0, 1e4, 1e7, 1e8, 1e30}) {
      INFO("higher_order ", higher_order, ", size ", size);
      const Tensor x = row({size}).set_trainable(), c = row({2}).set_trainable(),
                   log_c = row({std::log(2.0)}).set_trainable();
      Tape tape({.higher_order = higher_order});
      // Of x (x² + c)^(−1/2), by the closed forms.
      const double q = 1 / std::hypot(size, std::sqrt(2.0)), slope = 2 * q * q * q,
                   by_c = -size * q * q * q / 2;
      const auto near = [](const Tensor& got, double wanted) {
        return got.item() == doctest::Approx(wanted).epsilon(1e-13);
      };
      const std::vector<Tensor> dx = tape.gradient(isru(x, c), {x, c}),
                                dt = tape.gradient(dyisru(x, log_c, ones({1}, Dtype::f64), {}), {x, log_c});
      CHECK((near(dx[0] / slope, 1) && near(dx[1] / by_c, 1)));
      CHECK((near(dt[0] / slope, 1) && near(dt[1] / (2 * by_c), 1)));
      if (!higher_order) continue;
      CHECK(near(tape.gradient(dx[0], {x})[0] / (-6 * size * q * q * q * q * q), 1));
    }
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

TEST_CASE("activations by erf stay finite in f64 where powers of x overflow") {
  for (const double size : {1e60, 1e75, 1e100, 1e300}) {
    CAPTURE(size);
    const Tensor x = tensor({2}, std::vector<double>{size, -size}).set_trainable();
    Tape tape;
    const Tensor y = gelu(x);
    CHECK(erf(x).to_vector<double>() == std::vector<double>{1, -1});
    CHECK(y.to_vector<double>() == std::vector<double>{size, 0});
    CHECK(tape.gradient(sum(y), {x})[0].to_vector<double>() == std::vector<double>{1, 0});
  }
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

TEST_CASE("functions that are smooth at 0 have their value and three derivatives there") {
  const double ln2 = std::log(2), pi = std::numbers::pi;
  const auto one = [](double value) { return row({value}); };
  struct Row {
    std::string name;
    std::function<Tensor(const Tensor&)> f;  // of x [1]
    Doubles wanted;                          // at 0: the value and three derivatives
  };
  const std::vector<Row> rows{
      {"exp", [](auto x) { return exp(x); }, {1, 1, 1, 1}},
      {"expm1", [](auto x) { return expm1(x); }, {0, 1, 1, 1}},
      {"log", [](auto x) { return log(x + 1); }, {0, 1, -1, 2}},
      {"log1p", [](auto x) { return log1p(x); }, {0, 1, -1, 2}},
      {"sin", [](auto x) { return sin(x); }, {0, 1, 0, -1}},
      {"cos", [](auto x) { return cos(x); }, {1, 0, -1, 0}},
      {"tanh", [](auto x) { return tanh(x); }, {0, 1, 0, -2}},
      {"sigmoid", [](auto x) { return sigmoid(x); }, {0.5, 0.25, 0, -0.125}},
      {"erf", [](auto x) { return erf(x); }, {0, 2 / std::sqrt(pi), 0, -4 / std::sqrt(pi)}},
      {"reciprocal", [](auto x) { return reciprocal(x + 1); }, {1, -1, 2, -6}},
      {"divide", [](auto x) { return x / (x + 1); }, {0, 1, -2, 6}},
      {"sqrt", [](auto x) { return sqrt(x + 1); }, {1, 0.5, -0.25, 0.375}},
      {"rsqrt", [](auto x) { return rsqrt(x + 1); }, {1, -0.5, 0.75, -1.875}},
      {"square", [](auto x) { return square(x); }, {0, 0, 2, 0}},
      {"product", [](auto x) { return x * x * x; }, {0, 0, 0, 6}},
      {"pow 2", [](auto x) { return pow(x, 2); }, {0, 0, 2, 0}},
      {"pow 3", [](auto x) { return pow(x, 3); }, {0, 0, 0, 6}},
      {"pow of 2", [](auto x) { return pow(2, x); }, {1, ln2, ln2 * ln2, ln2 * ln2 * ln2}},
      {"pow of tensors", [&](auto x) { return pow(x, one(3)); }, {0, 0, 0, 6}},
      {"isru", [&](auto x) { return isru(x, one(4)); }, {0, 0.5, 0, -0.375}},
      {"silu", [](auto x) { return silu(x); }, {0, 0.5, 0.5, 0}},
      {"swiglu", [](auto x) { return swiglu(x, x + 2); }, {0, 1, 2, 1.5}},
      {"gelu", [](auto x) { return gelu(x); }, {0, 0.5, std::sqrt(2 / pi), 0}},
      {"gelu_tanh", [](auto x) { return gelu_tanh(x); }, {0, 0.5, std::sqrt(2 / pi), 0}},
      {"softplus", [](auto x) { return softplus(x); }, {ln2, 0.5, 0.25, 0}},
      {"softplus of -x", [](auto x) { return softplus(-x); }, {ln2, -0.5, 0.25, 0}},
      {"mish", [](auto x) { return mish(x); }, {0, 0.6, 0.64, -0.096}},
      {"softcap", [](auto x) { return softcap(x, 2); }, {0, 1, 0, -0.5}},
      {"dyt", [&](auto x) { return dyt(x, one(1), one(1), one(0)); }, {0, 1, 0, -2}},
      {"dyt_sqrtd", [&](auto x) { return dyt_sqrtd(x, one(1), one(1), one(0)); }, {0, 1, 0, -2}},
      {"dyisru", [&](auto x) { return dyisru(x, one(0), one(1), one(0)); }, {0, 1, 0, -3}},
      {"derf",
       [&](auto x) { return derf(x, one(1), one(0), one(1), one(0)); },
       {0, 2 / std::sqrt(pi), 0, -4 / std::sqrt(pi)}},
      {"mse_loss", [&](auto x) { return mse_loss(x, one(1)); }, {1, -2, 2, 0}},
      {"huber_loss", [&](auto x) { return huber_loss(x, one(0)); }, {0, 0, 1, 0}},
      {"binary_cross_entropy_with_logits",
       [&](auto x) { return binary_cross_entropy_with_logits(x, one(0.75)); },
       {ln2, -0.25, 0.25, 0}},
      {"logsumexp",
       [](auto x) {
         return logsumexp(concat({x, -x}));
       },
       {ln2, 0, 1, 0}},
      {"softmax",
       [](auto x) {
         return slice(softmax(concat({x, 0 * x})), 0, 0, 1);
       },
       {0.5, 0.25, 0, -0.125}},
      {"log_softmax",
       [](auto x) {
         return slice(log_softmax(concat({x, 0 * x})), 0, 0, 1);
       },
       {-ln2, 0.5, -0.25, 0}},
      {"cross_entropy",
       [](auto x) {
         return cross_entropy(concat({x, 0 * x}), zeros({}, Dtype::i64));
       },
       {ln2, -0.5, 0.25, 0}},
      {"norm",
       [&](auto x) {
         return norm(concat({x, one(1)}));
       },
       {1, 0, 1, 0}},
      {"var",
       [&](auto x) {
         return var(concat({x, one(0)}));
       },
       {0, 0, 1, 0}},
      {"std_dev",
       [&](auto x) {
         return std_dev(concat({x, one(1), one(-1)}), {0}, false, 1);
       },
       {1, 0, 1.0 / 3, 0}},
      {"rms_norm", [](auto x) { return rms_norm(x, {1}, {}, 1); }, {0, 1, 0, -3}},
      {"layer_norm",
       [&](auto x) {
         return slice(layer_norm(concat({x, one(0)}), {2}, {}, {}, 1), 0, 0, 1);
       },
       {0, 0.5, 0, -0.375}},
  };
  for (const Row& of : rows) {
    CAPTURE(of.name);
    for (const double zero : {0.0, -0.0}) {
      Tensor x = one(zero).set_trainable();
      {
        Tape tape({.higher_order = true});
        Tensor y = of.f(x);
        for (const double wanted : of.wanted) {
          CHECK(sum(y).item() == doctest::Approx(wanted).epsilon(1e-12));
          if (!tape.needs_gradient(y)) y = 0 * x;  // a derivative that is constant
          y = tape.gradient(y, {x}, ones(y.shape(), y.dtype()))[0];
        }
      }
      Tape first;
      CHECK(first.gradient(sum(of.f(x)), {x})[0].item() == doctest::Approx(of.wanted[1]).epsilon(1e-12));
    }
  }
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
