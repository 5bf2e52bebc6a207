// What diagnose says of Jacobians that are written down here: the numbers of each sentence, and which of
// several explanations it takes. (check_layer_test.cpp finds the causes in layers.)
#include "../../autograd/check/gradient_diagnosis.h"

#include <doctest/doctest.h>

#include "../../autograd/check/diagnosis/evidence.h"
#include "../../autograd/ops.h"
#include "../../autograd/tape.h"
#include "../holds.h"

namespace isobar::gradient_diagnosis_test {

using Numbers = std::vector<double>;

Tensor numbers(const Shape& shape, const Numbers& values) { return tensor(shape, values); }

// The evidence of a wrong gradient: the matrix by differences, and the one by the tape.
Jacobian evidence(const Tensor& x, const Tensor& y, const Numbers& numeric, const Numbers& tape) {
  Jacobian j;
  j.name = "x";
  j.value = x;
  j.y = y;
  j.inputs = {{"x", x}};
  j.rows = y.numel();
  j.columns = x.numel();
  j.numeric = numeric;
  j.tape = tape;
  j.max_relative_error = 1;
  return j;
}

Numbers times(double factor, Numbers values) {
  for (double& v : values) v *= factor;
  return values;
}

// Five numbers of x give five of y, in no pattern.
const Numbers some_slopes = {3, 1, 4, -1, 5, 9, -2, 6, 5, -3, 5, 8, 9, 7, -9, 3, 2, 3, 8, -4, 6, 2, 6, 4, 3};

std::string said_of_factor(double factor) {
  const Tensor five = numbers({5}, {0.3, -0.7, 1.1, 0.9, -1.3});
  return diagnose(evidence(five, five, some_slopes, times(factor, some_slopes))).text;
}

TEST_CASE("a constant factor is named, with the root or the N − 1 that it may come from") {
  const std::string root = " everywhere (the root of the extent of dimension 0 of y [5])";
  CHECK(said_of_factor(std::sqrt(5)) == "x: off by a factor of 2.23607" + root);
  CHECK(said_of_factor(1 / std::sqrt(5)) == "x: off by a factor of 0.447214" + root);
  CHECK(said_of_factor(-std::sqrt(5)) == "x: off by a factor of -2.23607" + root + ", and the sign is wrong");
  const std::string bessel =
      " everywhere (N and N − 1 for the extent of dimension 0 of y [5]: Bessel's correction)";
  CHECK(said_of_factor(5.0 / 4) == "x: off by a factor of 1.25" + bessel);
  CHECK(said_of_factor(4.0 / 5) == "x: off by a factor of 0.8" + bessel);
  CHECK(said_of_factor(1.5) == "x: off by a factor of 1.5 everywhere");
  CHECK(said_of_factor(0.5) == "x: off by a factor of 0.5 everywhere");
}

TEST_CASE("an extent that explains a factor is named once, though x and y have it") {
  const std::string extent = ", and that is the extent of dimension 0 of y [5]";
  CHECK(said_of_factor(5) == "x: missing 1/N: it is 5 times the right one" + extent);
  CHECK(said_of_factor(0.2) == "x: 1/N once too often: it is 1/5 of the right one" + extent);
  CHECK(said_of_factor(-5) ==
        "x: missing 1/N: it is -5 times the right one" + extent + ", and the sign is wrong");
}

TEST_CASE("a factor of two extents is named as their product") {
  const Tensor x = numbers({1}, {0.3}), y = ones({2, 3}, Dtype::f64);
  const Numbers slopes = {3, 1, 4, -1, 5, 9};
  CHECK(diagnose(evidence(x, y, slopes, times(6, slopes))).text ==
        "x: missing 1/N: it is 6 times the right one, and that is the extent of 2 dimensions of y [2, 3]");
}

TEST_CASE("a factor that is one of the inputs has its name") {
  const Tensor x = numbers({5}, {0.3, -0.7, 1.1, 0.9, -1.3});
  const auto said = [&](double factor) {
    Jacobian j = evidence(x, x, some_slopes, times(factor, some_slopes));
    j.inputs = {{"x", x}, {"large", numbers({1}, {70})}, {"scale", numbers({1}, {7})}};
    return diagnose(j).text;
  };
  CHECK(said(7) == "x: a factor too many: it is multiplied by scale");
  CHECK(said(1.0 / 7) == "x: missing factor: multiply dy by scale");
}

TEST_CASE("what differences leave of a zero does not hide a cause, even where y is zero") {
  const Numbers numeric = {1, 1e-10, -1e-10, 1}, tape = {3, 0, 0, 3};
  CHECK(diagnose(evidence(ones({2}, Dtype::f64), zeros({2}, Dtype::f64), numeric, tape)).text ==
        "x: off by a factor of 3 everywhere");
}

TEST_CASE("dy that comes unchanged is told from a plain sum of dy") {
  const Tensor x = numbers({3}, {0.2, 0.5, -0.4}), y = numbers({2}, {1.4, 0.6});
  CHECK(diagnose(evidence(x, x, {0.5, 0, 0, 0, 0.25, 0, 0, 0, 3}, {1, 0, 0, 0, 1, 0, 0, 0, 1})).text ==
        "x: missing factor: dy comes through unchanged; multiply by the slope");
  CHECK(diagnose(evidence(x, y, {0.5, 0, 3, 0, 0.25, 7}, {1, 0, 1, 0, 1, 1})).text ==
        "x: missing factor: it is a plain sum of dy; multiply dy by what x multiplies");
}

TEST_CASE("a missing factor is found among functions of the inputs, broadcast over y") {
  const Numbers numeric = {1, 2, 4, 3, 5, 7, 6, 8, 11, 9, 10, 13}, weight = {2, 3, 5};
  Numbers without = numeric, without_exp = numeric;
  for (size_t k = 0; k < numeric.size(); ++k) {
    without[k] /= weight[k % 3];
    without_exp[k] /= std::exp(weight[k % 3]);
  }
  const auto said = [&](const Numbers& tape) {
    Jacobian j = evidence(numbers({1}, {1.7}), ones({2, 2, 3}, Dtype::f64) * 0.3, numeric, tape);
    j.inputs.push_back({"weight", numbers({3}, weight)});
    return diagnose(j).text;
  };
  CHECK(said(without) == "x: missing factor: multiply dy by weight");
  CHECK(said(without_exp) == "x: missing factor: multiply dy by exp(weight)");
}

TEST_CASE("what is left of an element's contributions tells overwriting from a broadcast not summed") {
  const Tensor x = numbers({2}, {0.2, 0.5}), y = numbers({3}, {1.5, 2.5, 0.5});
  const Numbers numeric = {2, 0, 3, 5, 4, 7};  // the first element acts three times, the second twice
  CHECK(diagnose(evidence(x, y, numeric, {0, 0, 0, 0, 4, 7})).text ==
        "x: overwritten instead of accumulated: only the last contributions come, along dimension 0 of dy");
  CHECK(diagnose(evidence(x, y, numeric, {2, 0, 0, 5, 0, 0})).text ==
        "x: broadcast not summed: only the first contributions come, along dimension 0 of dy");
}

TEST_CASE("an input that the forward detaches is told from one that backward forgets") {
  const Tensor x = numbers({2}, {0.2, 0.5});
  const TensorFunction detaches = [](const std::vector<Tensor>& in) { return in[0] * in[1].detach(); };
  CHECK(diagnose(jacobians(detaches, {{"x", x}, {"weight", x}}).at(1)).text ==
        "weight: detached: the forward never recorded a use of it; is it read through data(), to_vector(), "
        "detach() or contiguous(), or missing from record()'s inputs?");
  const TensorFunction forgets = [](const std::vector<Tensor>& in) {
    return record("forgets", in[0].detach() * 2.0, {in[0]}, [](const Tensor&) { return Tensor(); });
  };
  CHECK(diagnose(jacobians(forgets, {{"x", x}}).at(0)).text ==
        "x: detached: it is on the tape, but backward returned no gradient for it (an undefined tensor)");
}

TEST_CASE("a part along the input is found beside a row of zeros, which gives none") {
  const Tensor x = numbers({3, 3}, {0, 0, 0, 4, 0.1, -3, 3, -1, 2});
  const Numbers numeric = {0.3, -0.2, 0.5, 0.7, 700, 0.2, 0.4, 0.6, -0.3};
  Numbers tape = numeric;
  tape[4] += 2e-4;  // equal to six digits
  for (int i = 0; i < 3; ++i) {
    tape[3 + i] += 2 * x.to_vector<double>()[3 + i];
    tape[6 + i] -= 0.5 * x.to_vector<double>()[6 + i];
  }
  CHECK(
      diagnose(evidence(x, ones({1}, Dtype::f64), numeric, tape)).text ==
      "x: missing term: what is wrong lies along the input: the mean square's (the norm's) part is missing or "
      "wrong");
}

TEST_CASE("right numbers in other places are told wherever they moved") {
  const Numbers of_0 = {1, 2, 3, 4}, of_1 = {5, 7, -6, 9};
  const Tensor x = numbers({4}, {0.1, 0.2, 0.3, 0.4}), y = numbers({2}, {1.5, 2.5});
  struct Moved {
    std::string how;
    std::vector<int> places;  // −1: a zero
  };
  for (const Moved& moved :
       {Moved{"shifted by one", {-1, 0, 1, 2}}, Moved{"shifted back by one", {1, 2, 3, -1}},
        Moved{"rolled by one", {3, 0, 1, 2}}, Moved{"rolled back by one", {1, 2, 3, 0}},
        Moved{"reversed", {3, 2, 1, 0}}}) {
    Numbers numeric = of_0, tape;
    numeric.insert(numeric.end(), of_1.begin(), of_1.end());
    for (const Numbers& row : {of_0, of_1})
      for (int place : moved.places) tape.push_back(place < 0 ? 0 : row[place]);
    CAPTURE(moved.how);
    const Diagnosis found = diagnose(evidence(x, y, numeric, tape));
    CHECK(found.cause == Cause::misplaced);
    CHECK(found.text.starts_with("x: misplaced: right numbers in other places: what belongs to dy["));
  }
}

TEST_CASE("what no rule explains is told with its largest error and the nearest multiple of J") {
  const Tensor x = numbers({2}, {0.3, 0.9});
  // The length of J is 5, that of T is 6, and their product 18.
  Jacobian j = evidence(x, x, {1, 2, -2, 4}, {2, 4, -4, 0});
  CHECK(diagnose(j).text ==
        "x: unknown cause: 2 of 2 elements are wrong; dy[1] reaches x[1] times 0, and should times 4; 0.72 "
        "times the right one is nearest, 80 % of it away");
  j.sampled = true;
  CHECK(diagnose(j).text == "x: unknown cause; give a smaller example input to look at single elements");
}

TEST_CASE("a gradient that agrees to some digits is nearly right, whatever else would explain it") {
  Numbers tape = some_slopes;
  for (size_t n = 0; n < tape.size(); ++n) tape[n] *= 1 + 1e-3 * static_cast<double>(n % 3);
  const Tensor five = numbers({5}, {0.3, -0.7, 1.1, 0.9, -1.3});
  Jacobian j = evidence(five, five, some_slopes, tape);
  j.max_relative_error = 2e-3;
  CHECK(diagnose(j).cause == Cause::nearly_right);
  CHECK(diagnose(j).text.starts_with("x: nearly right: it agrees to 2 digits"));
}

// The diagnoses of y = value(inputs) with the gradients of another function.
std::vector<Diagnosis> said_of(const TensorFunction& value, const TensorFunction& wrong,
                               const std::vector<NamedInput>& inputs) {
  const TensorFunction both = [=](const std::vector<Tensor>& in) {
    std::vector<Tensor> fixed;
    for (const Tensor& one : in) fixed.push_back(one.detach());
    const Tensor slope = wrong(in);
    return value(fixed).detach() + (slope - slope.detach());
  };
  return diagnose(jacobians(both, inputs));
}

Tensor random(uint64_t seed, const Shape& shape) { return Rng(seed).normal(shape, 0, 1, Dtype::f64); }

TEST_CASE("a sign and a factor are told with what else is wrong") {
  const std::vector<NamedInput> x = {{"x", random(11, {3, 3})}, {"weight", random(12, {3, 3})}};
  const auto said = [&](double factor) {
    return said_of([](auto& in) { return matmul(in[0], in[1]); },
                   [=](auto& in) {
                     return matmul(in[0], transpose(in[1].detach())) * factor + matmul(in[0].detach(), in[1]);
                   },
                   x)[0]
        .text;
  };
  const std::string transposed =
      "x: transposed: backward multiplies by the matrix itself, not by its transpose (dx = dy W for y = x Wᵀ)";
  CHECK(said(1) == transposed);
  CHECK(said(-1) == transposed + "; and the sign is wrong");
  CHECK(said(0.5) == transposed + "; and it is 0.5 times that");
}

TEST_CASE("what dy is multiplied by in place of the slope has its name") {
  const auto said = [](const TensorFunction& wrong) {
    return said_of([](auto& in) { return tanh(in[0]); }, wrong, {{"x", random(4, {4, 5})}})[0].text;
  };
  CHECK(said([](auto& in) { return in[0] * square(in[0]).detach(); }) ==
        "x: wrong factor: backward multiplies by x² where tanh'(x) is right");
  CHECK(said([](auto& in) { return in[0] * (1 + square(tanh(in[0]))).detach(); }) ==
        "x: wrong factor: backward multiplies by (1 + y²) where (1 − y²) is right");
}

TEST_CASE("a path through a product that is lost has the product's name") {
  const auto gated = [](const Tensor& a, const Tensor& b, const std::vector<Tensor>& in) {
    return linear(a, in[1]) * tanh(linear(b, in[2]));
  };
  const std::vector<Diagnosis> found =
      said_of([&](auto& in) { return gated(in[0], in[0], in); },
              [&](auto& in) { return gated(in[0], in[0].detach(), in); },
              {{"x", random(8, {4, 5})}, {"value", random(9, {3, 5})}, {"gate", random(10, {3, 5})}});
  CHECK(found[0].text == "x: lost branch: what comes back through x·gate is missing (overwritten?)");
  CHECK(found[1].cause == Cause::none);
}

TEST_CASE("a gradient that is exact is right at a tolerance of 0") {
  Jacobian j = evidence(ones({1}), ones({1}), {1}, {1});
  j.max_relative_error = 0;
  CHECK(diagnose(j, 0).cause == Cause::none);
  CHECK(diagnose(j, 0).text == "x: the gradient is right");
}

TEST_CASE("every set of dimensions is tried once, the last dimension first") {
  using Sets = std::vector<std::vector<int>>;
  CHECK(sets_of_dimensions(0) == Sets{});
  CHECK(sets_of_dimensions(2) == Sets{{1}, {0}, {0, 1}});
}

TEST_CASE("dimensions of extent one are not paired for transposition") {
  std::vector<int> dims;
  for (const Axis& axis : axes_of({2, 3, 5, 1}, false)) dims.push_back(axis.dim);
  CHECK(dims == std::vector{0, 1, 2});
}

TEST_CASE("a kink has its slopes from both sides, whichever is larger") {
  const TensorFunction f = [](const std::vector<Tensor>& in) { return -relu(in[0]); };
  const Jacobian j = jacobians(f, {{"x", numbers({1, 3}, {0.5, 0, -0.5})}}).at(0);
  REQUIRE(j.kinks.size() == 1);
  CHECK(j.kinks[0].index == "[0, 1]");
  CHECK(j.kinks[0].left == doctest::Approx(0).epsilon(1e-9));
  CHECK(j.kinks[0].right == doctest::Approx(-1).epsilon(1e-9));
  CHECK(j.right(1e-6));
}

TEST_CASE("neither a steep curve nor a flat one of large values is taken for a kink") {
  const TensorFunction steep = [](const std::vector<Tensor>& in) { return exp(in[0] * 100); };
  const Tensor near_0 = numbers({3}, {0, 1e-4, -1e-4});
  CHECK(jacobians(steep, {{"x", near_0}}).at(0).kinks.empty());
  const TensorFunction flat = [](const std::vector<Tensor>& in) { return square(in[0]) + 1e6; };
  CHECK(jacobians(flat, {{"x", near_0}}).at(0).kinks.empty());
}

TEST_CASE("at most five of the worst entries are kept") {
  const TensorFunction f = [](const std::vector<Tensor>& in) { return exp(in[0]); };
  for (const int count : {2, 5, 6})
    CHECK(jacobians(f, {{"x", Rng(1).normal({count}, 0, 1, Dtype::f64)}}).at(0).worst.size() ==
          static_cast<size_t>(std::min(count, 5)));
}

}  // namespace isobar::gradient_diagnosis_test
