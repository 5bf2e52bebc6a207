// Losses between an input and a target: PyTorch 1.13.1's values and gradients, extreme inputs, other shapes.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "../../autograd/tape.h"
#include "../message_of.h"
#include "../small_tensors.h"

namespace isobar::loss_test {

using Loss = Tensor (*)(const Tensor&, const Tensor&);

struct Case {
  const char* name;
  Loss loss;
  Doubles target;
  double y;
  Doubles dx, dt;
};

// One row a line reads best: the formatter would spread each over four.
// clang-format off
const std::vector<Case> cases = {
    {"mse_loss", [](auto& x, auto& t) { return mse_loss(x, t); }, {1, 0, -0.5, 0},
     4.125, {-0.25, -1, 1.75, 0}, {0.25, 1, -1.75, 0}},
    {"l1_loss", [](auto& x, auto& t) { return l1_loss(x, t); }, {1, 0, -0.5, 0},
     1.5, {-0.25, -0.25, 0.25, 0}, {0.25, 0.25, -0.25, 0}},
    {"huber_loss", [](auto& x, auto& t) { return huber_loss(x, t, 1.5); }, {1, 0, -0.5, 0},
     1.53125, {-0.125, -0.375, 0.375, 0}, {0.125, 0.375, -0.375, 0}},
    {"binary_cross_entropy_with_logits", [](auto& x, auto& t) { return binary_cross_entropy_with_logits(x, t); },
     {1, 0, 0.25, 0.5}, 0.8981848818391917,
     {-0.09438516719953635, 0.029800730505529387, 0.17564353170560834, 0}, {-0.125, 0.5, -0.75, 0}}};
// clang-format on

TEST_CASE("losses give PyTorch's values and gradients, of input and target") {
  for (const Case& one : cases) {
    CAPTURE(one.name);
    const Tensor x = leaf(row({0.5, -2, 3, 0}));
    const Tensor t = leaf(row(one.target));
    Tape tape;
    const Tensor y = one.loss(x, t);
    tape.backward(y);
    CHECK(y.item() == doctest::Approx(one.y).epsilon(1e-15));
    for (int64_t i = 0; i < 4; ++i) {
      CHECK(x.grad().at({i}) == doctest::Approx(one.dx[i]).epsilon(1e-14));
      CHECK(t.grad().at({i}) == doctest::Approx(one.dt[i]).epsilon(1e-14));
    }
  }
}

TEST_CASE("losses refuse shapes that would broadcast") {
  for (const Case& one : cases) {
    const std::string begin = std::string(one.name) + ": input ",
                      shapes = "and target must have one shape, got ";
    const auto message = [&](const Tensor& x, const Tensor& t) {
      return message_of([&] { one.loss(x, t); });
    };
    CHECK(message(f32(4, 1), f32(4)) == begin + shapes + "[4, 1] and [4]; reshape() the target to [4, 1]");
    CHECK(message(f32(4, 3), f32(3)) ==
          begin + shapes +
              "[4, 3] and [3]; losses do not broadcast, expand() the smaller one if that is meant");
    CHECK(message(f32(4), f64(4)) == begin + "is f32 but target is f64; convert one with cast()");
  }
}

TEST_CASE("losses of extreme numbers") {
  const double infinity = std::numeric_limits<double>::infinity();
  const Tensor far = row({1000, -1000, 1000, -1000}, Dtype::f32);
  const Tensor target = row({1, 0, 0, 1}, Dtype::f32);
  CHECK(binary_cross_entropy_with_logits(far, target, Reduction::none).to_vector<double>() ==
        Doubles{0, 0, 1000, 1000});
  // ln(1 + e⁻²⁰) keeps its digits beside max(x, 0) − x t = 0.
  CHECK(binary_cross_entropy_with_logits(full({1}, 20), ones({1})).item() ==
        doctest::Approx(std::log1p(std::exp(-20.0))).epsilon(1e-6));
  for (const Loss loss : {cases[0].loss, cases[1].loss, cases[2].loss}) {
    CHECK(loss(full({1}, infinity), zeros({1})).item() == infinity);
    CHECK(std::isnan(loss(full({1}, NAN), zeros({1})).item()));
  }
  CHECK(std::isnan(binary_cross_entropy_with_logits(full({1}, NAN), ones({1})).item()));
  CHECK(std::isnan(mse_loss(ones({0}), ones({0})).item()));  // the mean of no numbers
}

}  // namespace isobar::loss_test
