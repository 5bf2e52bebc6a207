#include "../message_of.h"
#include "optimizer_values.h"

namespace isobar::clip_test {

TEST_CASE("clip_grad_norm scales by max_norm / (norm + 1e-6) where that is below 1, as PyTorch does") {
  for (const double max_norm : {1.0, 100.0, std::numeric_limits<double>::infinity()}) {
    CAPTURE(max_norm);
    Tensor w = parameter({0, 0, 0}), b = parameter({0, 0}), without = parameter({0});
    w.set_grad(row({3, -4, 12}));
    b.set_grad(row({0.5, 84}));
    const double norm = std::sqrt(7225.25), factor = std::min(1.0, max_norm / (norm + 1e-6));
    CHECK(clip_grad_norm({w, without, b}, max_norm) == doctest::Approx(norm).epsilon(1e-15));
    check_values(w.grad(), {3 * factor, -4 * factor, 12 * factor}, 1e-14);
    check_values(b.grad(), {0.5 * factor, 84 * factor}, 1e-14);
    CHECK_FALSE(without.grad().defined());
  }
}

TEST_CASE("clipping scales a gradient that two parameters share once for each") {
  Tensor a = parameter({0, 0}), b = parameter({0, 0});
  const Tensor shared = row({3, 4});
  a.set_grad(shared);
  b.set_grad(shared);
  const double norm = clip_grad_norm({a, b}, 1);
  CHECK(norm == doctest::Approx(std::sqrt(50.0)).epsilon(1e-15));
  check_values(a.grad(), {3 / (norm + 1e-6), 4 / (norm + 1e-6)}, 1e-15);
  check_values(b.grad(), {3 / (norm + 1e-6), 4 / (norm + 1e-6)}, 1e-15);
  CHECK(shared.to_vector<double>() == Doubles{3, 4});
}

TEST_CASE("a parameter that is listed twice, as a tied weight may be, is counted and scaled once") {
  Tensor tied = parameter({0, 0}), b = parameter({0});
  tied.set_grad(row({3, 4}));
  b.set_grad(row({12}));
  CHECK(grad_norm({tied, b, tied}) == 13);
  CHECK(clip_grad_norm({tied, b, tied, Tensor(tied)}, 1.3) == 13);
  const double factor = 1.3 / (13 + 1e-6);
  check_values(tied.grad(), {3 * factor, 4 * factor}, 1e-15);
  check_values(b.grad(), {12 * factor}, 1e-15);
}

TEST_CASE("gradients that are not finite stay visible through clipping") {
  Tensor w = parameter({0, 0}), b = parameter({0});
  const double inf = std::numeric_limits<double>::infinity(), nan = std::nan("");
  w.set_grad(row({1, nan}));
  b.set_grad(row({1}));
  CHECK(std::isnan(clip_grad_norm({w, b}, 1)));
  check_values(w.grad(), {nan, nan});
  check_values(b.grad(), {nan});
  w.set_grad(row({1, inf}));  // which becomes NaN where it stood, as in PyTorch
  b.set_grad(row({1}));
  CHECK(clip_grad_norm({w, b}, 1) == inf);
  check_values(w.grad(), {0, nan});
  check_values(b.grad(), {0});
}

TEST_CASE("gradients whose squares leave the range of doubles are clipped to their direction") {
  for (const double scale : {1e-300, 1e-170, 1e160, 1e300}) {
    CAPTURE(scale);
    Tensor w = parameter({0, 0}), b = parameter({0}, Dtype::f32);
    w.set_grad(row({3, 4}) * scale);
    b.set_grad(row({0}, Dtype::f32));
    CHECK(grad_norm({w, b}) / scale == doctest::Approx(5).epsilon(1e-15));
  }
  Tensor w = parameter({0, 0});
  w.set_grad(row({3e160, 4e160}));
  CHECK(clip_grad_norm({w}, 1) == doctest::Approx(5e160).epsilon(1e-15));
  check_values(w.grad(), {0.6, 0.8}, 1e-15);
  w.set_grad(row({1.5e308, -1.5e308}));  // their norm is no double
  CHECK(clip_grad_norm({w}, 2) == std::numeric_limits<double>::infinity());
  check_values(w.grad(), {std::sqrt(2), -std::sqrt(2)}, 1e-15);
  Tensor f = parameter({0, 0}, Dtype::f32);  // 1e-8 / 4e38 is no float
  f.set_grad(row({2e38, -2e38}, Dtype::f32));
  clip_grad_norm({f}, 1e-8);
  check_values(f.grad(), {std::sqrt(0.5) * 1e-8, -std::sqrt(0.5) * 1e-8}, 1e-6);
}

TEST_CASE("a step by a factor that is no ordinary number of the dtype moves as one with clipped gradients") {
  for (const Dtype dtype : {Dtype::f32, Dtype::f64}) {
    CAPTURE(dtype);
    const double size = dtype == Dtype::f32 ? 3e38 : 1.5e308;
    Tensor w = parameter({0, 0}, dtype);
    w.set_grad(row({size, -size}, dtype));
    const double factor = dtype == Dtype::f32 ? 1e-8 / size / std::sqrt(2) : std::ldexp(0.25 / size, -3);
    SGD({w}, {.lr = 1}).step(factor);
    const double moved = dtype == Dtype::f32 ? 1e-8 / std::sqrt(2) : 0.25 / 8;
    check_values(w, {-moved, moved}, 1e-6);
  }
  const double inf = std::numeric_limits<double>::infinity();
  CHECK(std::isnan(clip_factor(inf, 1)));  // 0 would leave all other parameters where they are
  CHECK(std::isnan(clip_factor(inf, inf)));
}

TEST_CASE("the norm of f32 gradients is summed in double") {
  Tensor tiny = parameter({0}, Dtype::f32), many = zeros({1 << 20}).set_trainable();
  tiny.set_grad(row({1e-37}, Dtype::f32));  // its square is zero in f32
  CHECK(grad_norm({tiny}) == doctest::Approx(1e-37).epsilon(1e-6).scale(0));
  many.set_grad(ones({1 << 20}));
  CHECK(grad_norm({many}) == 1024);
  CHECK(message_of([&] { clip_grad_norm({many}, -1); }) == "clip: max_norm must not be negative, got -1");
}

}  // namespace isobar::clip_test
