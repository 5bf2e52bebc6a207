// The definitions that the texts print: each holds, or this library has a bug. What PyTorch 1.13.1 made of
// them in f64 stands in experiments/fixtures/torch_norms.json (by tests/fixtures/torch_norms.py): an identity
// between two spellings of our own could hold for two equal mistakes. Claims of the kind `definition` name
// these tests.
#include <doctest/doctest.h>

#include "../../autograd/autograd.h"
#include "../../experiments/claims/file.h"
#include "../../experiments/studies/norm_properties/properties.h"
#include "../../nn/lm/lm.h"
#include "../../nn/nn.h"
#include "../run.h"

namespace isobar::fixtures {

extern const char torch_norms[];
}

namespace isobar::definitions_test {

using properties::largest_difference;

// 1e-13: sums of 40 products of numbers up to 5, in f64. Another eps, its other place, a sample variance or
// another mean change the results by 1e-7 and more (norm_properties_test.cpp).
constexpr double rounding = 1e-13;

// A tensor of a recorded case.
struct Recorded {
  Json entry;
  Tensor operator()(const std::string& name) const {
    const Json& one = entry.at(name);
    const auto extents = one.at("shape").get<std::vector<int64_t>>();
    return tensor(Shape{std::span<const int64_t>(extents)}, one.at("values").get<std::vector<double>>());
  }
};
Recorded recorded(const std::string& name) { return {Json::parse(fixtures::torch_norms).at(name)}; }

using Inputs = const std::vector<Tensor>&;

// y, and the gradients of Σ dy y with respect to all inputs.
void check_formula(const std::string& name, const std::vector<std::string>& inputs,
                   const std::function<Tensor(Inputs)>& f) {
  CAPTURE(name);
  const Recorded theirs = recorded(name);
  std::vector<Tensor> tensors;
  for (const std::string& input : inputs) tensors.push_back(theirs(input).set_trainable());
  Tape tape;
  const Tensor y = f(tensors);
  CHECK(largest_difference(y, theirs("y")) <= rounding);
  tape.backward(y, theirs("dy"));
  const Recorded gradients{theirs.entry.at("gradients")};
  for (size_t i = 0; i < inputs.size(); ++i)
    CHECK(largest_difference(tensors[i].grad(), gradients(inputs[i])) <= rounding);
}

Tensor rms(const Tensor& x, const Tensor& weight) { return rms_norm(x, {8}, weight, 1e-5); }

TEST_CASE("LayerNorm, RMSNorm, BatchNorm and DyT are what PyTorch makes of their formulas") {
  check_formula("layernorm", {"x", "weight", "bias"},
                [](Inputs t) { return layer_norm(t[0], {8}, t[1], t[2], 1e-5); });
  check_formula("rmsnorm", {"x", "weight"}, [](Inputs t) { return rms(t[0], t[1]); });
  check_formula("weight_first", {"x", "weight"}, [](Inputs t) { return rms(t[0], t[1]); });
  check_formula("sqrt_d", {"x"}, [](Inputs t) { return rms_norm(t[0], {8}, {}, 0); });
  check_formula("unit", {"x"}, [](Inputs t) { return t[0] / sqrt(sum(square(t[0]), {-1}, true)); });
  check_formula("dyt", {"x", "alpha", "weight", "bias"},
                [](Inputs t) { return dyt(t[0], t[1], t[2], t[3]); });
  check_formula("trailing_dimensions", {"x", "weight"}, [](Inputs t) {
    return rms_norm(t[0], {2, 3}, t[1], 1e-5);
  });
  // With the running statistics after one batch at a momentum of 0.25.
  const Recorded theirs = recorded("batchnorm");
  BatchNorm1d norm(8, {.momentum = 0.25});
  convert(norm, Dtype::f64);
  assign(norm.weight, theirs("weight"));
  assign(norm.bias, theirs("bias"));
  CHECK(largest_difference(norm(theirs("x")), theirs("y")) <= rounding);
  CHECK(largest_difference(norm.running_mean, theirs("running_mean")) <= rounding);
  CHECK(largest_difference(norm.running_var, theirs("running_var")) <= rounding);
}

TEST_CASE("DyT and Derf start as their papers print, and are their formulas") {
  DyT with_tanh(3);
  Derf with_erf(3);
  CHECK((with_tanh.alpha.item() == 0.5 && with_erf.alpha.item() == 0.5 && with_erf.shift.item() == 0));
  const std::vector<double> xs = {1, -2, 0.3}, weights = {1, 2, -1}, biases = {0, 0.5, 1};
  for (ElementwiseNorm* norm : std::initializer_list<ElementwiseNorm*>{&with_tanh, &with_erf}) {
    CHECK(largest_difference(norm->weight, ones({3})) == 0);
    CHECK(largest_difference(norm->bias, zeros({3})) == 0);
    convert(*norm, Dtype::f64);
    assign(norm->weight, tensor(Shape{3}, weights));
    assign(norm->bias, tensor(Shape{3}, biases));
  }
  assign(with_erf.shift, full({1}, -0.2, Dtype::f64));
  const Tensor x = tensor(Shape{3}, xs);
  const std::vector<double> by_tanh = with_tanh(x).to_vector<double>(),
                            by_erf = with_erf(x).to_vector<double>();
  for (size_t i = 0; i < xs.size(); ++i) {
    CHECK(std::abs(by_tanh[i] - (weights[i] * std::tanh(0.5 * xs[i]) + biases[i])) <= rounding);
    CHECK(std::abs(by_erf[i] - (weights[i] * std::erf(0.5 * xs[i] - 0.2) + biases[i])) <= rounding);
  }
}

TEST_CASE("tanh(1.205 x) is the tanh nearest to erf") {
  // Half of the integral of the distance; beyond 6 both are 1 but for 1e-6.
  const auto distance = [](double epsilon) {
    double sum = 0;
    for (int i = 0; i < 60000; ++i) {
      const double x = 1e-4 * (i + 0.5);
      sum += 1e-4 * std::abs(std::tanh(epsilon * x) - std::erf(x));
    }
    return sum;
  };
  CHECK(distance(1.205) < distance(1.204));
  CHECK(distance(1.205) < distance(1.206));
}

TEST_CASE("the two ways to write RMSNorm agree in f32, and keep the shape") {
  const Tensor x = Rng(0).normal({64, 512}), weight = Rng(2).normal({512}, 1, 0.3);
  const Tensor power = mean(square(x), {-1}, true) + 1e-6, ours = rms_norm(x, {512}, weight, 1e-6);
  CHECK(power.shape() == Shape{64, 1});
  // |y| below 8, five roundings of 6e-8 each.
  CHECK(largest_difference(x / sqrt(power) * weight, ours) <= 3e-6);
  CHECK(largest_difference(x * rsqrt(power) * weight, ours) <= 3e-6);
  RMSNorm with_weight(512), without_weight(512, {.elementwise_affine = false});
  CHECK(largest_difference(with_weight(x), without_weight(x)) == 0);
  CHECK(with_weight(Rng(1).normal({1, 10, 512})).shape() == Shape{1, 10, 512});
  CHECK(Json::parse(fixtures::torch_norms).at("shape_of_1x10x512") == Json({1, 10, 512}));
}

TEST_CASE("pre-norm and post-norm blocks are what PyTorch makes of their formulas") {
  const Recorded theirs = recorded("residual");  // branches that are matrices
  for (const auto& [name, placement] : {std::pair{"pre", Placement::pre}, {"post", Placement::post}}) {
    TransformerBlock block(8, std::make_unique<Linear>(theirs("a")), std::make_unique<Linear>(theirs("b")),
                           {.placement = placement});
    convert(block, Dtype::f64);
    CHECK(largest_difference(block(theirs("x")), theirs(name)) <= rounding);
  }
}

TEST_CASE("claims by definition name tests that are here") {
  const std::string here = file_text(ISOBAR_SOURCE_DIR "/tests/claims/definitions_test.cpp");
  for (const claims::Claim* claim : claims::builtin_table())
    if (!claim->test.empty())
      CHECK_MESSAGE(here.find("TEST_CASE(\"" + claim->test + "\")") != std::string::npos, claim->id);
}

}  // namespace isobar::definitions_test
