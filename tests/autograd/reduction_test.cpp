// Reductions and norms at their edges, as PyTorch 1.13.1 or the definition has them.
#include "op_edges.h"

namespace isobar::reduction_test {

TEST_CASE("max shares its gradient among ties and passes NaN on") {
  check_op([](In x) { return max(x[0]); }, {{3, 1, 3}}, {3}, {{0.5, 0, 0.5}});
  check_values(max(row({1, nan, 3})), {nan});
  check_values(max(row({-inf, -inf})), {-inf});
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
      // No f32 is the mean of these.
      const Tensor rounded = raw::cast(row({1e6, 1e6 + 0.0625, 1e6}), dtype).set_trainable();
      CHECK(var(rounded, {0}, false, 0).item() == doctest::Approx(0.0625 * 0.0625 * 2 / 9).scale(0));
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

TEST_CASE("statistics given to batch norm count as constants") {
  const Tensor x = tensor({2, 3}, Doubles{1, 2, 4, 5, 5, 2}).set_trainable(), w = row({2, 3, 5}),
               b = row({1, 0, -1});
  const Tensor mean = row({1, 2, 3}).set_trainable(), variance = row({0.5, 3.5, 8.5}).set_trainable();
  Tape tape;
  const Tensor y = batch_norm(x, w, b, 0.5, mean, variance);
  check_values(y, ((x - mean) / row({1, 2, 3}) * w + b).to_vector<double>(), 1e-14);
  tape.backward(sum(y));
  CHECK(x.grad().defined());
  CHECK(!mean.grad().defined());
  CHECK(!variance.grad().defined());
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

TEST_CASE("scatter_add adds in double") {
  // 2²⁴ + 1 + 1 is 2²⁴ where f32 adds one by one.
  const Tensor x = full({1}, 16777216);
  CHECK(scatter_add(x, 0, integers(0, 0), ones({2})).item() == 16777218);
}

}  // namespace isobar::reduction_test
