// Shares of zeros and of saturated elements, against slopes by differences.
#include "../../experiments/lm/watching/saturation.h"

#include <doctest/doctest.h>

#include "../../nn/nn.h"

namespace isobar::saturation_test {

constexpr int64_t width = 8;

// The share of elements of x where the slope of an elementwise module is below a tenth of its slope at 0;
// those whose slope at 0 is 0 are left out.
double by_differences(Module& module, const Tensor& x) {
  const double h = 1e-6;
  const auto slopes = [&](const Tensor& at) {
    return ((module(at + h) - module(at - h)) / (2 * h)).to_vector<double>();
  };
  const std::vector<double> here = slopes(x), steepest = slopes(zeros(x.shape(), Dtype::f64));
  double saturated = 0, counted = 0;
  for (size_t i = 0; i < here.size(); ++i) {
    if (steepest[i] == 0) continue;
    ++counted;
    saturated += std::abs(here[i]) < 0.1 * std::abs(steepest[i]);
  }
  return saturated / counted;
}

// Weights of both signs, one of them 0, and biases.
void disturb(Module& module) {
  for (NamedTensor& named : named_parameters(module)) {
    if (named.tensor.numel() != width) continue;
    assign(named.tensor, Rng(3).split(named.name).normal({width}, 0, 1, Dtype::f64));
    if (named.name == "weight") raw::write<double>(named.tensor)[2] = 0;
  }
}

TEST_CASE("an element is saturated where its slope is below a tenth of the greatest one") {
  const Shape shape{width};
  struct Layer {
    const char* name;
    std::function<std::unique_ptr<Module>()> make;
  };
  const std::vector<Layer> layers = {
      {"dyt", [&] { return std::make_unique<DyT>(shape); }},
      {"dyt_sqrtd", [&] { return std::make_unique<DyTSqrtD>(shape); }},
      {"dyisru", [&] { return std::make_unique<DyISRU>(shape); }},
      {"derf", [&] { return std::make_unique<Derf>(shape); }},
      {"derf without bias", [&] { return std::make_unique<Derf>(shape, DerfOptions{.bias = false}); }},
      {"softcap", [] { return std::make_unique<Softcap>(3.0); }},
      {"isru_clip", [] { return std::make_unique<ISRUClip>(3.0); }}};
  for (const Layer& one : layers) {
    CAPTURE(one.name);
    const std::unique_ptr<Module> layer = one.make();
    convert(*layer, Dtype::f64);
    disturb(*layer);
    const Tensor x = Rng(5).normal({40, width}, 0, 4, Dtype::f64);
    const double saturated = shares_of(*layer, (*layer)(x)).saturated, wanted = by_differences(*layer, x);
    CHECK(wanted > 0.02);
    CHECK(wanted < 0.98);
    CHECK(saturated == doctest::Approx(wanted).epsilon(1e-12));
  }
}

TEST_CASE("a watch tells each module's zeros, and NaN where nothing can be saturated") {
  Sequential model(Linear(4, 6, Rng(1)), ReLU());
  SaturationProbe shares;
  {
    const Watch watch(model, shares);
    model(Rng(2).normal({100, 4}));
  }
  const SaturatedShares* const act = shares.find("1");
  REQUIRE(act != nullptr);
  double zeros = 0;
  for (const double y : relu((*model.parts[0])(Rng(2).normal({100, 4}))).to_vector<double>()) zeros += y == 0;
  CHECK(zeros > 100);
  CHECK(act->zeros == zeros / 600);
  CHECK(std::isnan(act->saturated));
  CHECK(shares.find("0")->zeros == 0);
  CHECK(shares.find("none") == nullptr);
  CHECK(std::isnan(shares_of(model, ones({3}, Dtype::i64)).zeros));
  CHECK(std::isnan(shares_of(model, ones({0})).zeros));
}

}  // namespace isobar::saturation_test
