// Losses: extreme inputs, other shapes. (Values: torch_cases/.)
#include "../message_of.h"
#include "op_edges.h"

namespace isobar::loss_test {

using Loss = Tensor (*)(const Tensor&, const Tensor&);

struct Case {
  std::string name;
  Loss loss;
};
const std::vector<Case> cases = {{"mse_loss", [](auto& x, auto& t) { return mse_loss(x, t); }},
                                 {"l1_loss", [](auto& x, auto& t) { return l1_loss(x, t); }},
                                 {"huber_loss", [](auto& x, auto& t) { return huber_loss(x, t, 1.5); }},
                                 {"binary_cross_entropy_with_logits",
                                  [](auto& x, auto& t) { return binary_cross_entropy_with_logits(x, t); }}};

TEST_CASE("losses refuse shapes that would broadcast") {
  for (const Case& one : cases) {
    const std::string begin = one.name + ": input ", shapes = "and target must have one shape, got ";
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
  const Tensor far = row({1000, -1000, 1000, -1000}, Dtype::f32);
  const Tensor target = row({1, 0, 0, 1}, Dtype::f32);
  CHECK(binary_cross_entropy_with_logits(far, target, Reduction::none).to_vector<double>() ==
        Doubles{0, 0, 1000, 1000});
  // ln(1 + e⁻²⁰) keeps its digits beside max(x, 0) − x t = 0.
  CHECK(binary_cross_entropy_with_logits(full({1}, 20), ones({1})).item() ==
        doctest::Approx(std::log1p(std::exp(-20.0))).epsilon(1e-6).scale(0));
  for (const Loss loss : {cases[0].loss, cases[1].loss, cases[2].loss}) {
    CHECK(loss(full({1}, inf), zeros({1})).item() == inf);
    CHECK(std::isnan(loss(full({1}, NAN), zeros({1})).item()));
  }
  CHECK(std::isnan(binary_cross_entropy_with_logits(full({1}, NAN), ones({1})).item()));
  CHECK(std::isnan(mse_loss(ones({0}), ones({0})).item()));  // the mean of no numbers
}

TEST_CASE("a masked class costs cross entropy nothing, on either tape") {
  for (bool higher_order : {false, true}) {
    CAPTURE(higher_order);
    Tensor logits = tensor({1, 3}, Doubles{0, -inf, 0}).set_trainable();
    Tape tape({.higher_order = higher_order});
    const Tensor loss = cross_entropy(logits, integers(2));
    CHECK(loss.item() == doctest::Approx(std::log(2.0)).epsilon(1e-14));
    check_values(tape.gradient(2 * loss, {logits})[0], {1, 0, -1});
  }
}

TEST_CASE("cross entropy of ignored targets alone is NaN, as in PyTorch") {
  for (bool higher_order : {false, true}) {
    CAPTURE(higher_order);
    Tensor logits = ones({2, 3}).set_trainable();
    Tape tape({.higher_order = higher_order});
    CHECK(std::isnan(cross_entropy(logits, integers(-100, -100)).item()));
  }
}

TEST_CASE("cross entropy of an impossible target is infinite") {
  CHECK(cross_entropy(row({0, -inf}), integers(Shape{}, {1})).item() == inf);
}

}  // namespace isobar::loss_test
