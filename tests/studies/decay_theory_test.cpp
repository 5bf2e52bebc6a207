// The closed forms of decay_study, and when a measurement agrees with them or with PyTorch's.
#include <doctest/doctest.h>

#include "../../experiments/nets/decay/reference.h"
#include "../../experiments/nets/decay/rows.h"
#include "decay_nets.h"

namespace isobar::decay_theory_test {

using namespace isobar::decay;
using doctest::Approx;

TEST_CASE("without a norm the closed forms are the known ones of eight layers of 512") {
  // Literals: mean-field values worked out by others for 8 × [Linear(512, 512) → ReLU], batch 32, loss = sum,
  // to three digits (so to half a percent).
  const double stds[] = {0.3374, 0.1386, 0.0585, 0.0281, 0.0188, 0.0168, 0.0164, 0.0163};
  const double gradients[] = {3.87, 7.21, 10.6, 14.4, 21.3, 40.5, 93.8, 229};
  for (int i = 0; i < 8; ++i) {
    CHECK(theory_std({.width = 512}, i + 1) == Approx(stds[i]).epsilon(0.005).scale(0));
    CHECK(theory_gradient({.width = 512}, i + 1) == Approx(gradients[i]).epsilon(0.005));
  }
}

TEST_CASE("residual nets have the stds of a hand's computation") {
  // Of the sample's std: n − 1 for 32 rows of n.
  CHECK(theory_std({.topology = "post", .norm = "layernorm", .depth = 50}, 50) ==
        Approx(std::sqrt(32 * 128.0 / (32 * 128.0 - 1))).epsilon(1e-5));
  CHECK(theory_std({.topology = "residual", .init = "he_normal"}, 8) == Approx(81));  // √3 per block
  CHECK(theory_std({.topology = "pre", .init = "he_normal", .norm = "rmsnorm", .width = 16384}, 4) ==
        Approx(3).epsilon(1e-4));
  CHECK(theory_std({.topology = "skipinit", .init = "he_normal", .depth = 1000}, 1000) ==
        Approx(std::exp(1)).epsilon(0.002));  // √(1 + 2/D)^D → e
  CHECK(theory_std({.topology = "rezero"}, 8) == 1);
  CHECK(theory_gradient({.topology = "fixup"}, 8) == 0);
}

TEST_CASE("other activations have their moments in theory") {
  // A linear net multiplies the std by √v and the gradient by √v, exactly.
  const Choice linear{.init = "he_normal", .loss = "random", .depth = 20, .activation = "none"};
  CHECK(theory_std(linear, 20) == Approx(std::pow(2, 10)));
  CHECK(theory_gradient(linear, 1) == Approx(std::sqrt(32 * 128 * 128 * std::pow(2, 19))));
  CHECK(theory_gradient({.loss = "sum", .activation = "none"}, 8) > 0);
  // The moments of a standard normal number are those of mpmath 1.3's quad, to 20 digits.
  const auto one_layer = [](const char* activation) {
    return theory_std({.init = "lecun_normal", .depth = 1, .activation = activation}, 1);
  };
  CHECK(one_layer("tanh") == Approx(std::sqrt(0.39429449039784117)).epsilon(1e-12));
  CHECK(one_layer("gelu") == Approx(std::sqrt(0.42522148257029867 - 1 / (4 * M_PI))).epsilon(1e-12));
  CHECK(one_layer("silu") ==
        Approx(std::sqrt(0.35577551981735215 - std::pow(0.20662096414190704, 2))).epsilon(1e-12));
}

TEST_CASE("where no closed form is known there is none") {
  CHECK(std::isnan(theory_gradient({.activation = "gelu"}, 1)));
  CHECK(std::isnan(theory_gradient({.norm = "rmsnorm", .activation = "none"}, 1)));
  CHECK(std::isnan(theory_at({.activation = "tanh"}, 1).along_one));
  CHECK(std::isnan(theory_std({.norm = "dyt"}, 1)));
  CHECK(std::isnan(theory_gradient({.topology = "pre", .norm = "dyisru"}, 1)));
  Config config = config_of({.norm = "rmsnorm"});
  config.order = "relu_norm";
  CHECK(theory_of(config)[3].output_std.median == Approx(0.82565).epsilon(1e-4));
  config.norm = "layernorm";
  CHECK(std::isnan(theory_of(config)[3].weight_gradient_norm.median));
}

TEST_CASE("a finite net's median lies below infinite width by exp(-beta k / 4n)") {
  // Rows of a deep net without bias are equal, but those of its first layers are not: k is a little below
  // 1000.
  const Prediction he = theory_at({.init = "he_normal", .depth = 1000}, 1000).output_std;
  CHECK(he.log_sd == Approx(std::sqrt(5.0 * 1000 / 128) / 2).epsilon(0.01));
  CHECK(he.median == Approx(std::sqrt(1 - 1 / M_PI) * std::exp(-he.log_sd * he.log_sd)));
  // Independent rows in layer 1: the mean over 32 of them.
  CHECK(theory_at({.init = "he_normal"}, 1).output_std.log_sd == Approx(std::sqrt(5.0 / 32 / 128) / 2));
  // On the plateau of biases a sixth of p comes from below: k = 1 / (1 − 1/36), whatever the depth.
  CHECK(theory_at({.depth = 100}, 100).output_std.log_sd ==
        Approx(std::sqrt(5.0 / (1 - 1.0 / 36) / 128) / 2).epsilon(0.02));
  // A gradient passes all layers, up to its weight and down from the top.
  const Choice net{.init = "he_normal", .depth = 1000};
  for (const int64_t layer : {1, 500, 1000})
    CHECK(theory_at(net, layer).weight_gradient_norm.log_sd ==
          Approx(std::sqrt(5.0 * 1000 / 128) / 2).epsilon(0.01));
  CHECK(std::isnan(theory_at({.norm = "rmsnorm"}, 8).output_std.log_sd));
  CHECK(std::isnan(theory_at({.topology = "residual"}, 8).output_std.log_sd));
}

// The noise of a layer or block, times the width, from the median of one row's gradient: ln of its norm falls
// by half of it per layer. Between two layers in the middle, in units of 1/width.
double noise_of(const Choice& net, const char* order = "norm_relu") {
  Config config = config_of(net);
  config.batch = 1;
  config.order = order;
  const std::vector<LayerTheory> theory = theory_of(config);
  const double low = theory.at(100).weight_gradient_norm.median,
               high = theory.at(300).weight_gradient_norm.median;
  return std::log(high / low) / 200 * 2 * static_cast<double>(config.width);
}

TEST_CASE("with norms a gradient of one row falls by exp(-noise / 2n) per layer") {
  // He's weights have no biases; the norms' eps of 1e-5 in 1 is left out.
  const Choice plain{.init = "he_normal", .norm = "rmsnorm", .loss = "random", .depth = 400};
  CHECK(noise_of(plain) == Approx(2).epsilon(0.01));
  CHECK(noise_of(plain, "relu_norm") == Approx(2).epsilon(0.01));
  Choice net = plain;
  net.norm = "layernorm";
  CHECK(noise_of(net) == Approx(2 + 1 / M_PI).epsilon(0.01));
  for (const char* norm : {"layernorm", "rmsnorm"}) {
    net = {.topology = "post", .init = "he_normal", .norm = norm, .loss = "random", .depth = 400};
    CHECK(noise_of(net) == Approx(16.0 / 9).epsilon(0.01));  // a = 2
    net.init = "xavier_normal";
    CHECK(noise_of(net) == Approx(7.0 / 9).epsilon(0.01));  // a = 1/2
    // σ is half of the root of 4 · noise · layers / n.
    CHECK(theory_at(net, 1).weight_gradient_norm.log_sd > 0);
  }
  // 400 layers of one row, of variance 8/n each.
  Config one = config_of(plain);
  one.batch = 1;
  CHECK(theory_of(one).front().weight_gradient_norm.log_sd ==
        Approx(std::sqrt(8.0 * 400 / 128) / 2).epsilon(0.01));
}

TEST_CASE("rows that differ average a gradient's noise, rows that are alike do not") {
  Rows one(1, 1), alike(32, 1), apart(32, 0);
  for (Rows* rows : {&one, &alike, &apart}) rows->noise(0.01, rows == &apart ? 0 : 1, 1);
  CHECK(one.shrinks(1, 1) == Approx(0.01));
  CHECK(alike.shrinks(0, 1) == Approx(0.01));  // inputs that are orthogonal, gradients that are equal
  CHECK(alike.shrinks(1, 1) == Approx(0.01));
  CHECK(apart.shrinks(0, 0) == Approx(0.01 / 32).scale(0));
  CHECK(apart.shrinks(1, 0) == Approx(0.01));  // of equal inputs, whose gradients add up to one row
  CHECK(alike.variance(1, 1) == Approx(0.04));
  // What two rows of gradients have in common below a layer whose masks differ everywhere is nothing.
  alike.mask(0);
  CHECK(alike.shrinks(1, 0) == Approx(0.01));
  // Noise makes rows collinear; then all of it is felt.
  for (int i = 0; i < 100'000; ++i) apart.noise(0.01, 0, 1);
  const double before = apart.shrinks(0, 0);
  apart.noise(0.01, 0, 1);
  CHECK(apart.shrinks(0, 0) - before == Approx(0.01).epsilon(0.01).scale(0));
}

// Plain nets without a norm, and all nets with one of those that theory knows.
TEST_CASE("PyTorch's medians lie within 3 standard errors of theory") {
  int with_z = 0, zeros = 0;
  for (const Reference& reference : depth_reference()) {
    if (!knows_finite_width(reference.config)) continue;
    const std::vector<LayerTheory> theory = theory_of(reference.config);
    const auto check_cell = [&](const ReferenceCell& cell, Prediction LayerTheory::*quantity) {
      const Prediction& predicted = theory.at(static_cast<size_t>(cell.layer - 1)).*quantity;
      INFO(reference.config.net_name(), ", layer ", cell.layer, ": ", cell.median, ", theory ",
           predicted.median);
      if (cell.median == 0) {
        ++zeros;
        CHECK(predicted.median < 1.2e-38);  // the least normal f32
        return;
      }
      ++with_z;
      const double sd = std::fmax(cell.log10_sd * std::log(10), predicted.log_sd);
      constexpr double rounding = 5e-4;  // of four digits
      CHECK(std::abs(std::log(cell.median / predicted.median)) < 3 * 1.2533 * sd / std::sqrt(20) + rounding);
    };
    for (const ReferenceCell& cell : reference.output_std) check_cell(cell, &LayerTheory::output_std);
    for (const ReferenceCell& cell : reference.weight_gradient_norm)
      check_cell(cell, &LayerTheory::weight_gradient_norm);
  }
  CHECK(with_z == 97 + 180);
  CHECK(zeros == 17);
}

TEST_CASE("agreement with the reference is a matter of standard errors, zeros and overflows") {
  const ReferenceCell cell{.layer = 1, .median = 2, .log10_sd = 0.1, .zeros = 0, .nonfinite = 0};
  const auto ours = [](double value, size_t count = 20) { return std::vector<double>(count, value); };
  CHECK(compare(cell, 20, ours(2)).agrees);
  CHECK(compare(cell, 20, ours(2 * std::pow(10, 0.159))).agrees);
  CHECK_FALSE(compare(cell, 20, ours(2 * std::pow(10, 0.161))).agrees);
  CHECK_FALSE(compare(cell, 20, ours(2 * std::pow(10, -0.161))).agrees);
  // Five seeds know less: √((1/20 + 1/5) / (1/20 + 1/20)) = 1.58 times.
  CHECK(compare(cell, 20, ours(2 * std::pow(10, 0.25), 5)).agrees);
  CHECK_FALSE(compare(cell, 20, ours(2 * std::pow(10, 0.26), 5)).agrees);

  std::vector<double> some_zeros = ours(2);
  for (int i = 0; i < 3; ++i) some_zeros[i] = 0;
  CHECK(compare(cell, 20, some_zeros).agrees);
  some_zeros[3] = 0;
  CHECK_FALSE(compare(cell, 20, some_zeros).agrees);
  std::vector<double> some_overflows = ours(2);
  for (int i = 0; i < 4; ++i) some_overflows[i] = i % 2 == 0 ? INFINITY : NAN;
  CHECK(compare(cell, 20, some_overflows).nonfinite == 4);
  CHECK_FALSE(compare(cell, 20, some_overflows).agrees);

  const ReferenceCell dead{.layer = 1, .median = 0, .log10_sd = 0, .zeros = 20, .nonfinite = 0};
  CHECK(compare(dead, 20, ours(0)).agrees);
  CHECK_FALSE(compare(dead, 20, ours(1e-45)).agrees);
}

TEST_CASE("agreement with theory is a matter of standard errors of a median") {
  // Logarithms −1, 0, 1: sd 1, median 0; SE = √(π/2) / √3 = 0.7236.
  const std::vector<double> values = {std::exp(-1), 1, std::exp(1)};
  CHECK(agreement_of({.median = std::exp(1), .log_sd = 0.5}, values).z == Approx(-1 / 0.7236).epsilon(1e-4));
  // A larger predicted spread takes the place of the measured one.
  CHECK(agreement_of({.median = std::exp(1), .log_sd = 2}, values).z == Approx(-0.5 / 0.7236).epsilon(1e-4));
  CHECK(agreement_of({.median = std::exp(2.17), .log_sd = 1}, values).agrees);
  CHECK_FALSE(agreement_of({.median = std::exp(2.18), .log_sd = 1}, values).agrees);
  // One seed has no spread of its own.
  CHECK(agreement_of({.median = 1, .log_sd = 1}, std::vector<double>{2}).z ==
        Approx(std::log(2) / 1.2533).epsilon(1e-4));

  const std::vector<double> dead = {0, 0, 1e-44}, overflowed = {INFINITY, NAN, 1e38};
  for (const auto& cell : {dead, overflowed})
    CHECK(std::isnan(agreement_of({.median = 1, .log_sd = 1}, cell).z));
  CHECK(agreement_of({.median = 1e-39, .log_sd = 1}, dead).agrees);
  CHECK_FALSE(agreement_of({.median = 1e-37, .log_sd = 1}, dead).agrees);
  CHECK(agreement_of({.median = 1e39, .log_sd = 1}, overflowed).agrees);
  CHECK_FALSE(agreement_of({.median = 1e38, .log_sd = 1}, overflowed).agrees);
}

}  // namespace isobar::decay_theory_test
