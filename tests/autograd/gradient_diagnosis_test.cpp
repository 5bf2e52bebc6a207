// What diagnose says of Jacobians that are written down here: the numbers of each sentence, and which of
// several explanations it takes. (check_layer_test.cpp finds the causes in layers.)
#include "../../autograd/check/gradient_diagnosis.h"

#include <doctest/doctest.h>

#include "../../autograd/ops.h"
#include "../../autograd/tape.h"
#include "../holds.h"
#include "../small_tensors.h"

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
  const Tensor five = numbers({5}, {0.3, -0.7, 1.1, 0.9, -1.3});
  Numbers tape = times(3e4, some_slopes);
  tape[7] *= 1 + 2e-6;  // equal to five digits
  CHECK(diagnose(evidence(five, five, times(1e4, some_slopes), tape)).text ==
        "x: off by a factor of 3 everywhere");
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
  const std::string text = "x: off by a factor of 3 everywhere";
  const Numbers numeric = {1, 1e-10, -1e-10, 1}, tape = {3, 0, 0, 3};
  for (const double size : {1.0, 1e-6})
    CHECK(diagnose(evidence(ones({2}), zeros({2}), times(size, numeric), times(size, tape))).text == text);
  Jacobian in_f32 = evidence(ones({2}), zeros({2}), {1, 1e-5, -1e-5, 1}, tape);
  in_f32.rounding = Rounding::whole;
  in_f32.rounded = 1e-7;
  CHECK(diagnose(in_f32).text == text);
  // Near 10⁶ differences leave more.
  CHECK(diagnose(evidence(ones({2}), full({2}, 1e6), {1, 1e-4, -1e-4, 1}, tape)).text == text);
}

TEST_CASE("dy that comes unchanged is told from a plain sum of dy") {
  const Tensor x = numbers({3}, {0.2, 0.5, -0.4}), y = numbers({2}, {1.4, 0.6});
  CHECK(diagnose(evidence(x, x, {0.5, 0, 0, 0, 0.25, 0, 0, 0, 3}, {1, 0, 0, 0, 1, 0, 0, 0, 1})).text ==
        "x: missing factor: dy comes through unchanged; multiply by the slope");
  CHECK(diagnose(evidence(x, y, {0.5, 0, 3, 0, 0.25, 7}, {1, 0, 1, 0, 1, 1})).text ==
        "x: missing factor: it is a plain sum of dy; multiply dy by what x multiplies");
}

TEST_CASE("a missing factor is found among functions of the inputs, broadcast over y") {
  const Numbers numeric = {1, 2, 4, 3, 5, 7, 6, 8, 11, 9, 10, 13}, weight = {2, 3, 5, 7, -4, 6};
  const auto said = [&](double (*factor)(double), size_t offset = 0) {
    Numbers slopes, tape;
    for (size_t k = 0; k < numeric.size(); ++k) {
      const double slope = numeric[k] / factor(weight[offset + k % 3]);
      slopes.insert(slopes.end(), {numeric[k], 1}),
          tape.insert(tape.end(), {slope, 1});  // of x[1] all is right
    }
    Jacobian j = evidence(numbers({2}, {1.7, 0.2}), ones({2, 2, 3}, Dtype::f64) * 0.3, slopes, tape);
    j.inputs.push_back({"weight", numbers({3}, {2, 3, 5})});
    j.inputs.push_back({"both", numbers({6}, weight)});
    return diagnose(j).text;
  };
  CHECK(said([](double w) { return w; }) == "x: missing factor: multiply dy by weight");
  CHECK(said([](double w) { return w / 2; }) == "x: missing factor: multiply dy by 0.5 · weight");
  CHECK(said([](double w) { return std::exp(w); }) == "x: missing factor: multiply dy by exp(weight)");
  CHECK(said([](double w) { return 1 / (1 + std::exp(-w)); }) ==
        "x: missing factor: multiply dy by sigmoid(weight)");
  CHECK(said([](double w) { return w; }, 3) == "x: missing factor: multiply dy by both[…, 3:6]");
  // Four numbers are enough, and each may have a factor of its own.
  CHECK(diagnose(evidence(numbers({4}, {2, 3, 5, 7}), ones({1}, Dtype::f64), {1, 2, 4, 3},
                          {0.5, 2.0 / 3, 0.8, 3.0 / 7}))
            .text == "x: missing factor: multiply dy by x");
}

TEST_CASE("a factor after a sum is told from one before it, by the rows where it is not zero") {
  const Tensor five = numbers({5}, {0.3, -0.7, 1.1, 0.9, -1.3});
  const auto said = [&](const Numbers& v) {
    Numbers late = some_slopes;
    for (size_t n = 0; n < late.size(); ++n) late[n] *= v[n % 5] / (v[n / 5] == 0 ? 7 : v[n / 5]);
    Jacobian j = evidence(five, five, some_slopes, late);
    j.inputs.push_back({"v", numbers({5}, v)});
    return diagnose(j).text;
  };
  const std::string text = "x: missing factor: multiply dy by v before all else, not the result after it";
  CHECK(said({2, 3, -5, 4, 0}) == text);
  CHECK(said({2, 3, 0, 0, 0}) != text);  // which leaves too few rows
}

TEST_CASE("what is left of an element's contributions tells overwriting from a broadcast not summed") {
  const Tensor x = numbers({2}, {0.2, 0.5}), y = numbers({3}, {1.5, 2.5, 0.5});
  const Numbers numeric = {2, 0, 3, 5, 4, 7};  // the first element acts three times, the second twice
  CHECK(diagnose(evidence(x, y, numeric, {0, 0, 0, 0, 4, 7})).text ==
        "x: overwritten instead of accumulated: only the last contributions come, along dimension 0 of dy");
  CHECK(diagnose(evidence(x, y, numeric, {2, 0, 0, 5, 0, 0})).text ==
        "x: broadcast not summed: only the first contributions come, along dimension 0 of dy");
}

TEST_CASE("indices that get nothing are named where they are an end of all, and too many for chance") {
  const Numbers numeric = {3, 1, 4, -1, 5, 9, -2, 6, 5, -3, 7, 8};
  const auto said = [&](const std::vector<size_t>& lost) {
    Numbers tape = numeric;
    for (size_t n : lost) tape[n] = 0;
    const Tensor x = row({0.3, -0.7, 1.1, 0.9, -1.3, 0.2});
    return diagnose(evidence(x, row({1.4, 0.6}), numeric, tape)).text;
  };
  CHECK(said({4, 5, 10, 11}) ==
        "x: cross-talk: x with index >= 4 along dimension 0 gets nothing; does backward leave out the tail?");
  for (const std::vector<size_t>& lost : {std::vector<size_t>{0, 1, 2, 6, 7}, {3, 4, 5, 10, 11}, {5, 11}})
    CHECK(!holds(said(lost), "cross-talk"));
}

// As evidence(), for a y of which number i depends on x[i] alone.
Jacobian diagonal(const Numbers& x, const Numbers& numeric, const Numbers& tape) {
  Jacobian j = evidence(row(x), row(x), Numbers(x.size() * x.size()), Numbers(x.size() * x.size()));
  for (size_t i = 0; i < x.size(); ++i)
    j.numeric[i * (x.size() + 1)] = numeric[i], j.tape[i * (x.size() + 1)] = tape[i];
  return j;
}

TEST_CASE("a mask that is missing is told from another one") {
  const Numbers x = {0.3, -0.7, 1.1, 0.9};
  CHECK(diagnose(diagonal(x, {3, 0, 2, 0}, {3, 1, 2, 1})).text ==
        "x: missing factor: right where y depends on it, but dy comes through where y does not; multiply by "
        "the forward's mask");
  CHECK(diagnose(diagonal(x, {3, 2, 0, 0}, {3, 0, 1, 0})).text ==
        "x: one-sided: right where it is not zero, but 1 entries get nothing and 1 get dy where y does not "
        "depend on them: backward's mask is not the forward's");
}

TEST_CASE("a threshold on x, or on its size, is named where chance would hardly have drawn it") {
  const auto said = [](int count, bool both_signs) {
    Numbers x, numeric, tape;
    for (int i = 0; i < count; ++i) {
      x.push_back((i % 2 == 0 ? 0.2 + 0.01 * i : 0.7 + 0.1 * i) * (both_signs && i % 4 > 1 ? -1 : 1));
      numeric.push_back(2 + i % 5), tape.push_back(i % 2 == 0 ? numeric.back() : 0);
    }
    return diagnose(diagonal(x, numeric, tape)).text;
  };
  CHECK(said(12, false).starts_with("x: one-sided: zero only where x >= 0.8 (6 of 12 elements): look at"));
  CHECK(said(12, true).starts_with("x: one-sided: zero only where |x| >= 0.8 (6 of 12 elements): look at"));
  CHECK(said(10, false).starts_with("x: unknown cause: 5 of 10 elements are wrong"));
}

TEST_CASE("signs, groups, sums and constants have their sentences") {
  const auto said = [](int64_t of_y, int64_t of_x, const Numbers& numeric, const Numbers& tape) {
    const Tensor x = slice(row({0.3, -0.7, 1.1, 0.9, -1.3}), 0, 0, of_x);
    return diagnose(evidence(x, zeros({of_y}, Dtype::f64), numeric, tape)).text;
  };
  CHECK(said(1, 5, {3, -1, 4, 2, -5}, {-3, -1, -4, -2, -5}) ==
        "x: sign: right but for the sign of 3 of 5 entries; is a − added that the formula subtracts?");
  const Numbers of_groups = {3, 1, 0, 0, 2, -4, 0, 0, 0, 0, 5, -2, 0, 0, 7, 6};
  CHECK(said(4, 4, of_groups, {3, 1, 8, -3, 2, -4, 0, 9, -6, 0, 5, -2, 0, 11, 7, 6})
            .starts_with(
                "x: cross-talk: backward links index 0 of dy with index 2 of x, along dimensions 0 and 0"));
  CHECK(
      said(2, 4, {1, -3, 2 + 1e-8, 0, 4, 1, -7, 2}, {2, 3, -4, 1, 1, 8, 2, 5}) ==
      "x: missing term: y stays the same when all of x along dimension 0 get the same constant, so its gradient "
      "must sum to 0 along it, and does not: the sum over y · dy, or the mean's part, is missing");
  CHECK(said(2, 4, Numbers(8), {3, 0, -1, -2, 0, 0, 0, 0}) ==
        "x: cross-talk: y does not depend on 3 elements of x, as [0], and they get a gradient; does backward "
        "forget a mask?");
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
  const Numbers row_of_eight = {1, 2, 4, 8, 3, 5, 7, 9}, end_shifted = {1, 2, 4, 0, 8, 3, 5, 7};
  CHECK(diagnose(evidence(ones({8}), ones({1}), row_of_eight, end_shifted)).cause == Cause::misplaced);
}

TEST_CASE("what no rule explains is told with its largest error and the nearest multiple of J") {
  const Tensor x = numbers({2}, {0.3, 0.9});
  // The length of J is 5, that of T is 6, and their product 18.
  Jacobian j = evidence(x, x, {1, 2, -2, 4}, {2, 4, -4, 0});
  CHECK(diagnose(j).text ==
        "x: unknown cause: 2 of 2 elements are wrong; dy[1] reaches x[1] times 0, and should times 4; 0.72 "
        "times the right one is nearest, 80 % of it away");
  // Of two errors of 4 the first is told.
  CHECK(holds(diagnose(evidence(x, x, {1, 2, -2, 4}, {2, 4, 2, 0})).text, "dy[1] reaches x[0] times 2, and"));
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
    return linear(a, in[1]) * tanh(matmul(b, in[2]));
  };
  const std::vector<Diagnosis> found =
      said_of([&](auto& in) { return gated(in[0], in[0], in); },
              [&](auto& in) { return gated(in[0], in[0].detach(), in); },
              {{"x", random(8, {4, 5})}, {"value", random(9, {3, 5})}, {"gate", random(10, {5, 3})}});
  CHECK(found[0].text == "x: lost branch: what comes back through x·gate is missing (overwritten?)");
  CHECK(found[1].cause == Cause::none);
  CHECK(said_of([](auto& in) { return tanh(linear(in[0], in[1])) + tanh(in[0]); },
                [](auto& in) { return tanh(linear(in[0], in[1])) + tanh(in[0]) * 0.5; },
                {{"x", random(8, {4, 5})}, {"weight", random(9, {5, 5})}})[0]
            .text == "x: lost branch: what comes back through the rest of the formula comes 0.5 times");
}

TEST_CASE("a term of the product rule may be lost, or come with a wrong sign or factor") {
  const auto cause = [](double factor) {
    return said_of(
               [](auto& in) { return in[0] * exp(in[0]); },
               [=](auto& in) { return in[0] * exp(in[0].detach()) * factor + in[0].detach() * exp(in[0]); },
               {{"x", random(4, {4, 5})}})[0]
        .cause;
  };
  CHECK(cause(-1) == Cause::sign);
  CHECK(cause(-2) == Cause::missing_term);
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

TEST_CASE("a forward in f32 is known by its jumps, even those of one number; a kink nearby makes none") {
  const TensorFunction rounds = [](const std::vector<Tensor>& in) {
    return cast(sum(cast(in[0], Dtype::f32)) * row({1, 1e-3}, Dtype::f32) + 1, Dtype::f64);
  };
  const Jacobian j = jacobians(rounds, {{"x", numbers({3}, {0.5, 0.3, -0.5})}}).at(0);
  CHECK(j.rounding == Rounding::whole);
  CHECK(j.kinks.empty());  // though slopes from both sides differ by rounding
  const TensorFunction bent = [](const std::vector<Tensor>& in) { return relu(in[0]); };
  CHECK(jacobians(bent, {{"x", arange(20, Dtype::f64) * 1e-7}}).at(0).rounding == Rounding::none);
}

TEST_CASE("a Jacobian of more than a million numbers is looked at along some directions") {
  for (const int64_t count : {2048, 2049}) {
    const TensorFunction f = [=](const std::vector<Tensor>& in) {
      return ones({count}, Dtype::f64) * sum(in[0]);
    };
    CHECK(jacobians(f, {{"x", random(1, {512})}}).at(0).sampled == (count > 2048));
  }
  const Jacobian wrong =
      jacobians([](auto& in) { return in[0] * in[0].detach(); }, {{"x", random(1, {513})}}).at(0);
  CHECK(wrong.tape.at(0) != wrong.tape.at(wrong.columns));  // for another dy
  CHECK(wrong.additive);
}

TEST_CASE("at most five of the worst entries are kept") {
  const TensorFunction f = [](const std::vector<Tensor>& in) { return exp(in[0]); };
  for (const int count : {2, 5, 6})
    CHECK(jacobians(f, {{"x", Rng(1).normal({count}, 0, 1, Dtype::f64)}}).at(0).worst.size() ==
          static_cast<size_t>(std::min(count, 5)));
  const TensorFunction one_more = [](const std::vector<Tensor>& in) {
    return record("one_more", in[0].detach() * 2, {in[0]}, [](const Tensor& dy) { return 2 * dy + 1; });
  };
  for (uint64_t seed = 1; seed < 5; ++seed) {  // whichever dy shows the largest error
    const Jacobian j = jacobians(one_more, {{"x", random(1, {3})}}, {.seed = seed}).at(0);
    CHECK(j.worst[0].relative_error == j.max_relative_error);
  }
}

}  // namespace isobar::gradient_diagnosis_test
