// Gradcheck must find mistakes: ops with a wrong gradient are built here and shown to it.
#include "../../autograd/check/gradcheck.h"

#include <doctest/doctest.h>

#include <cmath>

#include "../../autograd/check/diagnosis/differences.h"
#include "../../autograd/ops.h"
#include "../../autograd/tape.h"

namespace isobar::gradcheck_test {

using In = const std::vector<Tensor>&;

Tensor some(const Shape& shape) { return Rng(1).normal(shape, 0, 1, Dtype::f64); }

// x² whose gradient is too large by a factor of 1 + `mistake`.
TensorFunction wrong_square(double mistake) {
  return [mistake](In in) {
    const Tensor x = in[0];
    return record("wrong_square", square(x.detach()), {x},
                  [x, mistake](const Tensor& dy) { return dy * x * (2 * (1 + mistake)); });
  };
}

TEST_CASE("gradcheck measures a mistake of one in a hundred thousand") {
  for (const Shape& shape : {Shape{3, 5}, Shape{40, 50}}) {
    const GradcheckReport report = gradcheck(wrong_square(1e-5), {some(shape)});
    CHECK(report.max_relative_error == doctest::Approx(1e-5).epsilon(0.01).scale(0));
  }
}

TEST_CASE("gradcheck says where the worst error is") {
  const auto wrong_at_7 = [](In in) {
    const Tensor x = in[1];
    std::vector<double> factor(15, 1.0);
    factor[7] = 3;
    return record("wrong", x.detach() * 1.0, {x},
                  [factor, shape = x.shape()](const Tensor& dy) { return dy * tensor(shape, factor); });
  };
  const GradcheckReport report = gradcheck(wrong_at_7, {some({2}), some({3, 5})});
  CHECK(report.input == 1);
  CHECK(report.element == 7);
  CHECK(report.analytic == doctest::Approx(3 * report.numeric).epsilon(1e-9));
  CHECK(report.max_relative_error == doctest::Approx(2.0 / 3).epsilon(1e-9));
  CHECK(report.text.find("gradcheck: order 1, input 1 [3, 5], element 7: tape ") == 0);
}

TEST_CASE("gradcheck finds a missing gradient") {
  const auto forgets = [](In x) { return x[0] * x[1].detach(); };
  const GradcheckReport report = gradcheck(forgets, {some({4}), some({4}) + 3.0});
  CHECK(report.max_relative_error == 1);
  CHECK(report.input == 1);
  CHECK(report.analytic == 0);
}

TEST_CASE("gradcheck finds a mistake that a plain sum would hide") {
  // The gradient of Σ softmax is zero, and so is that of this op without the second term.
  const auto half_softmax = [](In in) {
    const Tensor x = in[0], p = softmax(x.detach());
    return record("half_softmax", p, {x}, [p](const Tensor& dy) { return p * (dy - mean(dy, {-1}, true)); });
  };
  CHECK(gradcheck(half_softmax, {some({3, 5})}).max_relative_error > 0.01);
}

TEST_CASE("gradcheck finds a NaN") {
  const auto bad = [](In in) {
    const Tensor x = in[0];
    return record("bad", x.detach() * 1.0, {x}, [](const Tensor& dy) { return dy * std::nan(""); });
  };
  CHECK(std::isinf(gradcheck(bad, {some({3})}).max_relative_error));
}

TEST_CASE("gradcheck to second order finds a gradient that is not differentiable again") {
  // The first order is right; the closure hides its use of x from a higher-order tape.
  const auto once = [](In in) {
    const Tensor x = in[0];
    return record("once", square(x.detach()), {x},
                  [hidden = x.detach()](const Tensor& dy) { return dy * hidden * 2; });
  };
  CHECK(gradcheck(once, {some({3, 5})}).max_relative_error < 1e-6);
  const GradcheckReport report = gradcheck(once, {some({3, 5})}, {.order = 2});
  CHECK(report.max_relative_error == 1);
  CHECK(report.order == 2);
  CHECK(report.text.find("gradcheck: order 2, input 0 [3, 5]") == 0);
}

TEST_CASE("gradcheck passes integers on and survives empty inputs") {
  const auto pick = [](In x) { return index_select(x[0], 0, x[1]); };
  CHECK(gradcheck(pick, {some({4, 2}), Rng(2).integers({3}, 4)}, {.order = 2}).max_relative_error < 1e-6);
  const GradcheckReport empty = gradcheck([](In x) { return tanh(x[0]); }, {some({0})}, {.order = 2});
  CHECK(empty.max_relative_error == 0);
  CHECK(empty.analytic == 0);
  CHECK(empty.numeric == 0);
  CHECK(empty.text == "gradcheck: nothing to compare, all inputs are empty");
}

TEST_CASE("gradcheck of a constant finds zero on both sides, and of equal errors tells the first") {
  const auto constant = [](In x) { return ones(x[0].shape(), Dtype::f64); };
  CHECK(gradcheck(constant, {some({3})}, {.order = 2}).max_relative_error == 0);
  CHECK(gradcheck(constant, {some({3})}).element == 0);
}

TEST_CASE("differences step by the size of what is moved, and know what they cannot tell from rounding") {
  const Directions one_by_one(tensor({3}, std::vector<double>{0.5, -8, 2}), 3, 1, Rng(1));
  const double step = std::pow(2, -52.0 / 3);  // ∛ε
  CHECK(one_by_one.step(0) == doctest::Approx(step));
  CHECK(one_by_one.step(1) == doctest::Approx(8 * step));
  CHECK(one_by_one.step(2) == doctest::Approx(2 * step));
  // See GradcheckReport: 10⁻³ of the largest gradient, or 10⁻⁴ of the values' length.
  CHECK(one_by_one.noise_floor({0, -2, 1}, {3, 4}) == doctest::Approx(2e-3));
  CHECK(one_by_one.noise_floor({0, -0.1, 0}, {3, 4}) == doctest::Approx(5e-4).scale(0));
  const Directions random(tensor({2}, std::vector<double>{1, 3}), 1, 4, Rng(1));
  CHECK(random.step(0) == doctest::Approx(3 * step));
  CHECK(random.noise_floor({6, -8}, {3, 4}) == doctest::Approx(1e-2));
}

}  // namespace isobar::gradcheck_test
