// Reductions and norms at their edges, as PyTorch 1.13.1 or the definition has them.
#include "../message_of.h"
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

TEST_CASE("a second derivative is refused where a length or a standard deviation is 0, with the repair") {
  const auto second = [](const TensorFunction& f, const Doubles& values) {
    const Tensor x = row(values).set_trainable();
    Tape tape({.higher_order = true});
    const Tensor dx = tape.gradient(sum(f({x})), {x})[0];
    return tape.gradient(sum(dx), {x})[0].to_vector<double>();
  };
  const std::string of_norm =
      "backward of norm: a norm is 0, where it has no second derivative; write sum(square(x)) for the square of a "
      "norm";
  const std::string of_std =
      "backward of std_dev: a standard deviation is 0, where it has no second derivative; write var(x) for its "
      "square";
  CHECK(message_of([&] { second([](In x) { return square(norm(x[0])); }, {0, 0}); }) == of_norm);
  CHECK(message_of([&] { second([](In x) { return norm(x[0]); }, {0, 0}); }) == of_norm);
  CHECK(message_of([&] { second([](In x) { return norm(x[0], 3); }, {0, 0}); }) == of_norm);
  const auto each = [](In x) { return norm(reshape(x[0], {2, 2}), 2, {1}); };
  CHECK(message_of([&] { second(each, {3, 4, 0, 0}); }) == of_norm);
  CHECK(message_of([&] { second([](In x) { return square(std_dev(x[0])); }, {2, 2}); }) == of_std);
  CHECK(message_of([&] { second([](In x) { return std_dev(x[0], {0}, true, 0); }, {2, 2, 2}); }) == of_std);
  // The repairs, and what has a second derivative: of |x| it is 1/|x| (1 − x xᵀ / |x|²), applied to (1, 1).
  CHECK(second([](In x) { return sum(square(x[0])); }, {0, 0}) == Doubles{2, 2});
  CHECK(second([](In x) { return var(x[0]) * 2; }, {2, 2}) == Doubles{0, 0});
  check_values(row(second([](In x) { return norm(x[0]); }, {3, 4})), {4.0 / 125, -3.0 / 125}, 1e-14);
  CHECK(second([](In x) { return norm(x[0], 1); }, {0, 0}) == Doubles{0, 0});
}

TEST_CASE("lengths have the derivatives of their powers where an element is 0, or refuse them") {
  // Of (|x|ᵖ + 1)^(1/p) at x = 0: all are 0 below the p-th, which is (p − 1)! for an even p.
  const auto derivatives = [](double p, int count) {
    const Tensor x = row({0, 1}).set_trainable();
    Tape tape({.higher_order = true});
    Tensor y = norm(x, p);
    Doubles all;
    for (int order = 1; order <= count; ++order) {
      y = select(tape.gradient(y, {x})[0], 0, 0);
      all.push_back(y.item());
    }
    return all;
  };
  CHECK(derivatives(2, 2) == Doubles{0, 1});
  CHECK(derivatives(4, 4) == Doubles{0, 0, 0, 6});
  CHECK(derivatives(6, 6) == Doubles{0, 0, 0, 0, 0, 120});
  CHECK(derivatives(3, 3) == Doubles{0, 0, 0});  // −2 on the left, 2 on the right: as that of |x|
  CHECK(derivatives(2.5, 2) == Doubles{0, 0});
  CHECK(derivatives(1.5, 1) == Doubles{0});
  const std::string refused =
      "backward of norm: an element is 0, where a norm whose p is no integer has no derivatives above the p-th; leave "
      "zeros out, or add a small number to each |x|";
  CHECK(message_of([&] { derivatives(1.5, 2); }) == refused);
  CHECK(message_of([&] { derivatives(2.5, 3); }) == refused);
  CHECK(message_of([&] { derivatives(0.5, 2); }) == refused);
}

TEST_CASE("lengths and deviations of denormal numbers have the slopes of ordinary ones") {
  for (const bool higher_order : {false, true})
    for_both_dtypes([&](Dtype dtype) {
      CAPTURE(higher_order);
      const double least = dtype == Dtype::f32 ? 0x1p-149 : 0x1p-1074;
      const auto same = [&](const TensorFunction& f, const Doubles& multiples) {  // of the least number
        CAPTURE(multiples);
        const Tensor ordinary = row(multiples, dtype).set_trainable(),
                     x = (row(multiples, dtype) * least).set_trainable();
        Tape tape({.higher_order = higher_order});
        // The results are whole multiples of the least number: nothing of them is lost.
        check_values(tape.gradient(f({x}), {x}, full({}, 1.7, dtype))[0],
                     tape.gradient(f({ordinary}), {ordinary}, full({}, 1.7, dtype))[0].to_vector<double>(),
                     1e-6);
      };
      for (const double size : {1.0, 0x1p8, 0x1p20, 0x1p40}) {
        same([](In x) { return norm(x[0]); }, {size, 0});
        same([](In x) { return norm(x[0]); }, {3 * size, -4 * size, 0});
        same([](In x) { return std_dev(x[0], {0}, false, 0); }, {5 * size, 7 * size, 5 * size, 7 * size});
      }
    });
  const Tensor both = reshape(row({0x1p-1030, 0, 3, 4}), {2, 2}).detach().set_trainable();
  Tape tape;
  check_values(tape.gradient(sum(norm(both, 2, {1})), {both})[0], {1, 0, 0.6, 0.8}, 1e-15);
}

TEST_CASE("lengths and deviations of numbers whose powers leave the range of doubles keep their digits") {
  for (const double scale : {0x1p-1000, 0x1p-600, 0x1p-510, 0x1p510, 0x1p600, 0x1p1000})
    for (const bool higher_order : {false, true}) {
      INFO("scale ", scale, ", higher_order ", higher_order);
      const auto same = [&](const TensorFunction& f) {  // as of ordinary numbers, to the bit
        const Tensor small = row({1, 2, 3, 7}).set_trainable(), x = (small.detach() * scale).set_trainable();
        Tape tape({.higher_order = higher_order});
        const Tensor wanted = f({small}), y = f({x});
        CHECK(y.item() / scale == wanted.item());
        CHECK(tape.gradient(y, {x})[0].to_vector<double>() ==
              tape.gradient(wanted, {small})[0].to_vector<double>());
      };
      same([](In x) { return norm(x[0]); });
      same([](In x) { return std_dev(x[0]); });
      same([](In x) { return std_dev(x[0], {0}, false, 0); });
      const Tensor x = row({1, 2, 3, 7}) * scale;
      CHECK(norm(x, 3).item() / scale == doctest::Approx(std::cbrt(1 + 8 + 27 + 343)).epsilon(1e-14));
      CHECK(norm(x, 0.5).item() / scale ==
            doctest::Approx(std::pow(1 + std::sqrt(2) + std::sqrt(3) + std::sqrt(7), 2)).epsilon(1e-14));
      CHECK(norm_of(x) == norm(x).item());
    }
  CHECK(norm(full({3}, 1e30), 12).item() == doctest::Approx(std::pow(3, 1 / 12.0) * 1e30));
  for (const bool higher_order : {false, true}) {
    const Tape tape({.higher_order = higher_order});
    check_values(var(row({1e200, -1e200, 3e200}).set_trainable()), {inf});
    check_values(var(row({1e200, 1e200}).set_trainable()), {0});
    check_values(var(row({1e-200, 3e-200}).set_trainable()), {0});
    check_values(norm(row({inf, 1e200}).set_trainable()), {inf});
    check_values(norm(row({nan, 1e200, inf}).set_trainable()), {nan});
    check_values(std_dev(row({nan, 1e200}).set_trainable()), {nan});
    check_values(norm(row({0, 0}).set_trainable()), {0});
  }
}

TEST_CASE("a norm of rows far from one is that of the same rows near one, to the bit") {
  const Tensor near = Rng(3).normal({6, 4}, 0, 1, Dtype::f64);
  const std::vector<std::pair<std::string, TensorFunction>> norms{
      {"layer_norm", [](In x) { return layer_norm(x[0], {4}, {}, {}, 0); }},
      {"rms_norm", [](In x) { return rms_norm(x[0], {4}, {}, 0); }},
      {"rms_norm partial", [](In x) { return rms_norm(x[0], {4}, {}, 0, 2); }},
      {"batch_norm", [](In x) { return batch_norm(x[0], {}, {}, 0); }},
      {"group_norm", [](In x) { return group_norm(x[0], 2, {}, {}, 0); }},
  };
  for (const auto& [name, f] : norms)
    for (const Dtype dtype : {Dtype::f32, Dtype::f64})
      for (const double scale : dtype == Dtype::f32 ? Doubles{0x1p-80, 0x1p-50, 0x1p60, 0x1p100}
                                                    : Doubles{0x1p-900, 0x1p-520, 0x1p510, 0x1p900})
        for (const bool higher_order : {false, true}) {
          INFO(name_of(dtype), ", scale ", scale, ", higher_order ", higher_order);
          Tensor x = raw::cast(near, dtype), far = x * scale;
          x.set_trainable(), far.set_trainable();
          const Tensor dy = raw::cast(Rng(4).normal({6, 4}, 0, 1, Dtype::f64), dtype);
          Tape tape({.higher_order = higher_order});
          const Tensor wanted = f({x}), y = f({far});
          CHECK(same_bits(y, wanted));
          CHECK(same_bits(tape.gradient(y, {far}, dy)[0] * scale, tape.gradient(wanted, {x}, dy)[0]));
        }
  const double third = std::sqrt(0.5);
  for (const bool higher_order : {false, true}) {
    const Tape tape({.higher_order = higher_order});
    const Tensor x = row({1e200, 1e38, 1}).set_trainable();
    check_values(layer_norm(x, {3}, {}, {}, 1e-5), {std::sqrt(2), -third, -third}, 1e-15);
    const Tensor rows = tensor({3, 2}, Doubles{3e200, 4e200, 3, 4, 3e-200, 4e-200}).set_trainable();
    const double all = std::sqrt(12.5), with_eps = std::sqrt(12.5 + 1e-5);
    check_values(
        rms_norm(rows, {2}, {}, 1e-5),
        {3 / all, 4 / all, 3 / with_eps, 4 / with_eps, 3e-200 / std::sqrt(1e-5), 4e-200 / std::sqrt(1e-5)},
        1e-15);
    // An eps that is as small as the squares.
    const double root = std::sqrt(12.5 + 1);
    check_values(rms_norm(row({3e-150, 4e-150}).set_trainable(), {2}, {}, 1e-300), {3 / root, 4 / root},
                 1e-14);
  }
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
