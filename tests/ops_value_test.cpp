// Values and gradients of ops against literals that PyTorch printed (fixtures/op_literals.py), and against
// what IEEE arithmetic or the definition says at the edges.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <set>

#include <nlohmann/json.hpp>

#include "../autograd/ops.h"
#include "../autograd/tape.h"
#include "../core/raw.h"
#include "op_table.h"
#include "thread_counts.h"

namespace isobar::ops_value_test {

using nlohmann::json;

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

Tensor row(const std::vector<double>& values) {
  return tensor(Shape{static_cast<int64_t>(values.size())}, values);
}
Tensor integers(const Shape& shape, const std::vector<int64_t>& values) { return tensor(shape, values); }

Tensor read(const json& text) {
  return tensor(Shape(std::span<const int64_t>(text["shape"].get<std::vector<int64_t>>())),
                text["values"].get<std::vector<double>>());
}

const json& literals() {
  static const json all = json::parse(std::ifstream(ISOBAR_SOURCE_DIR "/tests/fixtures/op_literals.json"));
  return all;
}

const std::map<std::string, TensorFunction>& functions() {
  static const std::map<std::string, TensorFunction> all{
      {"tanh", [](In x) { return tanh(x[0]); }},
      {"sigmoid", [](In x) { return sigmoid(x[0]); }},
      {"erf", [](In x) { return erf(x[0]); }},
      {"gelu", [](In x) { return gelu(x[0]); }},
      {"gelu_tanh", [](In x) { return gelu_tanh(x[0]); }},
      {"silu", [](In x) { return silu(x[0]); }},
      {"swiglu", [](In x) { return swiglu(x[0], x[1]); }},
      {"softcap", [](In x) { return softcap(x[0], 2); }},
      {"softmax", [](In x) { return softmax(x[0]); }},
      {"log_softmax", [](In x) { return log_softmax(x[0]); }},
      {"cross_entropy",
       [](In x) {
         return cross_entropy(x[0], integers({3}, {4, 2, 0}));
       }},
      {"cross_entropy ignored",
       [](In x) {
         return cross_entropy(x[0], integers({3}, {4, -100, 0}));
       }},
      {"cross_entropy padding",
       [](In x) {
         return cross_entropy(x[0], integers({3}, {4, 1, 0}), 1);
       }},
      {"sum",
       [](In x) {
         return sum(x[0], {0, 2});
       }},
      {"mean", [](In x) { return mean(x[0], {1}); }},
      {"max", [](In x) { return max(x[0], {1}); }},
      {"max with ties", [](In x) { return max(x[0], {1}); }},
      {"var sample", [](In x) { return var(x[0], {1}); }},
      {"var population", [](In x) { return var(x[0], {1}, false, 0); }},
      {"var of two axes",
       [](In x) {
         return var(x[0], {0, 2});
       }},
      {"matmul", [](In x) { return matmul(x[0], x[1]); }},
      {"linear", [](In x) { return linear(x[0], x[1], x[2]); }},
      {"embedding",
       [](In x) {
         return embedding(integers({2, 2}, {2, 0, 2, 1}), x[0]);
       }},
      {"layer_norm", [](In x) { return layer_norm(x[0], 5, x[1], x[2], 1e-5); }},
      {"layer_norm of two dimensions",
       [](In x) {
         return layer_norm(x[0], {3, 4}, {}, {}, 1e-5);
       }},
      {"layer_norm ruled by eps", [](In x) { return layer_norm(x[0], 5, x[1], x[2], 1e-5); }},
      {"rms_norm", [](In x) { return rms_norm(x[0], 5, x[1], 1e-5); }},
      {"rms_norm partial", [](In x) { return rms_norm(x[0], 5, x[1], 1e-5, 2); }},
      {"batch_norm", [](In x) { return batch_norm(x[0], x[1], x[2], 1e-5); }},
      {"batch_norm with length", [](In x) { return batch_norm(x[0], x[1], x[2], 1e-5); }},
      {"batch_norm by given statistics",
       [](In x) {
         const json& fixture = literals()["batch_norm by given statistics"];
         return batch_norm(x[0], x[1], x[2], 1e-5, read(fixture["mean"]), read(fixture["variance"]));
       }},
      {"group_norm", [](In x) { return group_norm(x[0], 2, x[1], x[2], 1e-5); }},
      {"dyt", [](In x) { return dyt(x[0], x[1], x[2], x[3]); }},
      {"dyt_sqrtd", [](In x) { return dyt_sqrtd(x[0], x[1], x[2], x[3]); }},
      {"dyisru", [](In x) { return dyisru(x[0], x[1], x[2], x[3]); }},
      {"rope", [](In x) { return rope(x[0], 1e4, 2); }},
      {"rope interleaved", [](In x) { return rope(x[0], 1e4, 2, RopeStyle::interleaved); }},
      {"attention", [](In x) { return attention(x[0], x[1], x[2], {.causal = true}); }},
      {"attention with softcap",
       [](In x) { return attention(x[0], x[1], x[2], {.causal = true, .softcap = 0.5}); }},
  };
  return all;
}

// Equal to 10⁻¹² of the literal (or absolutely, where it is smaller than one): both sides compute in f64.
void check_equal(const Tensor& got, const json& wanted) {
  const Tensor expected = read(wanted);
  REQUIRE(got.shape() == expected.shape());
  const std::vector<double> a = got.to_vector<double>(), b = expected.to_vector<double>();
  for (size_t i = 0; i < a.size(); ++i) {
    CAPTURE(i);
    CHECK(std::abs(a[i] - b[i]) <= 1e-12 * std::max(1.0, std::abs(b[i])));
  }
}

// Elementwise equality in which NaN equals NaN.
void check_values(const Tensor& got, const std::vector<double>& wanted) {
  const std::vector<double> values = got.to_vector<double>();
  REQUIRE(values.size() == wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) {
    CAPTURE(i);
    CAPTURE(values[i]);
    CHECK((values[i] == wanted[i] || (std::isnan(values[i]) && std::isnan(wanted[i]))));
  }
}

std::vector<double> gradient_of(const TensorFunction& f, Tensor x) {
  x.set_trainable();
  Tape tape;
  const Tensor y = f({x});
  return tape.gradient(y, {x})[0].to_vector<double>();
}

// Runs a check for f32 and f64: they use different vector code.
void for_both_dtypes(const std::function<void(Dtype)>& body) {
  for (Dtype dtype : {Dtype::f32, Dtype::f64}) {
    CAPTURE(name_of(dtype));
    body(dtype);
  }
}

TEST_CASE("values and gradients equal PyTorch's") {
  for (const auto& [name, f] : functions()) {
    SUBCASE(name.c_str()) {
      const json& fixture = literals().at(name);
      std::vector<Tensor> inputs;
      for (const json& input : fixture["inputs"]) inputs.push_back(read(input).set_trainable());
      for (bool higher_order : {false, true}) {
        CAPTURE(higher_order);
        Tape tape({.higher_order = higher_order});
        const Tensor y = f(inputs);
        check_equal(y, fixture["y"]);
        std::vector<double> dy(y.numel());
        for (size_t i = 0; i < dy.size(); ++i) dy[i] = std::cos(1.0 + static_cast<double>(i));
        const std::vector<Tensor> dx = tape.gradient(y, inputs, tensor(y.shape(), dy));
        for (size_t i = 0; i < dx.size(); ++i) check_equal(dx[i], fixture["dx"][i]);
      }
    }
  }
}

TEST_CASE("every literal of the fixture is used") {
  for (const auto& entry : literals().items()) {
    const std::string name = entry.key();
    CAPTURE(name);
    CHECK((name == "torch" || functions().contains(name)));
  }
}

TEST_CASE("elementwise ops treat infinity and NaN as IEEE says") {
  for_both_dtypes([](Dtype dtype) {
    const Tensor edge = raw::cast(row({-inf, 0, inf, nan}), dtype);
    check_values(exp(edge), {0, 1, inf, nan});
    check_values(tanh(edge), {-1, 0, 1, nan});
    check_values(sigmoid(edge), {0, 0.5, 1, nan});
    check_values(erf(edge), {-1, 0, 1, nan});
    check_values(relu(edge), {0, 0, inf, nan});
    check_values(squared_relu(edge), {0, 0, inf, nan});
    check_values(square(edge), {inf, 0, inf, nan});
    check_values(log(raw::cast(row({-1, 0, 1, inf, nan}), dtype)), {nan, -inf, 0, inf, nan});
    check_values(sqrt(raw::cast(row({-1, 0, 4, inf, nan}), dtype)), {nan, 0, 2, inf, nan});
    check_values(reciprocal(raw::cast(row({0, 4, inf, nan}), dtype)), {inf, 0.25, 0, nan});
    check_values(raw::cast(row({0, 1, inf}), dtype) / raw::cast(row({0, 0, inf}), dtype), {nan, inf, nan});
  });
}

TEST_CASE("activations stay finite where their exponentials overflow") {
  for_both_dtypes([](Dtype dtype) {
    const Tensor far = raw::cast(row({-1e4, 1e4}), dtype);
    check_values(sigmoid(far), {0, 1});
    check_values(tanh(far), {-1, 1});
    check_values(silu(far), {0, 1e4});
    check_values(gelu(far), {0, 1e4});
    check_values(gelu_tanh(far), {0, 1e4});
    check_values(softcap(far, 50), {-50, 50});
    for (const TensorFunction& f :
         {TensorFunction([](In x) { return silu(x[0]); }), TensorFunction([](In x) { return gelu(x[0]); }),
          TensorFunction([](In x) { return gelu_tanh(x[0]); })})
      CHECK(gradient_of(f, far) == std::vector<double>{0, 1});
  });
}

TEST_CASE("denormal numbers are kept") {
  CHECK(affine(full({3}, 1e-40), 0.5, 0).at({0}) == doctest::Approx(5e-41).epsilon(1e-4));
  CHECK(relu(full({3}, 1e-40)).at({0}) > 0);
  CHECK(sum(full({3}, 1e-40)).item() > 2e-40);
}

TEST_CASE("softmax gives weight zero to minus infinity and NaN to a row with plus infinity") {
  for_both_dtypes([](Dtype dtype) {
    check_values(softmax(raw::cast(row({-inf, 0, 0, -inf}), dtype)), {0, 0.5, 0.5, 0});
    check_values(softmax(raw::cast(row({inf, 0}), dtype)), {nan, nan});
    check_values(softmax(raw::cast(row({-inf, -inf}), dtype)), {nan, nan});
    check_values(softmax(raw::cast(row({nan, 0}), dtype)), {nan, nan});
    check_values(softmax(raw::cast(row({1e4, 1e4, -1e4, 1e4, 1e4}), dtype)), {0.25, 0.25, 0, 0.25, 0.25});
    check_values(log_softmax(raw::cast(row({-inf, 0}), dtype)), {-inf, 0});
    check_values(log_softmax(raw::cast(row({1e4, -1e4}), dtype)), {0, -2e4});
  });
}

TEST_CASE("one row's infinity leaves the other rows alone") {
  const Tensor p = softmax(tensor({2, 2}, std::vector<double>{inf, 0, 1, 1}));
  check_values(p, {nan, nan, 0.5, 0.5});
}

TEST_CASE("a masked class costs cross entropy nothing, on either tape") {
  for (bool higher_order : {false, true}) {
    CAPTURE(higher_order);
    Tensor logits = tensor({1, 3}, std::vector<double>{0, -inf, 0}).set_trainable();
    Tape tape({.higher_order = higher_order});
    const Tensor loss = cross_entropy(logits, integers({1}, {2}));
    CHECK(loss.item() == doctest::Approx(std::log(2.0)).epsilon(1e-14));
    check_values(tape.gradient(loss, {logits})[0], {0.5, 0, -0.5});
  }
}

TEST_CASE("cross entropy of ignored targets alone is NaN, as in PyTorch") {
  for (bool higher_order : {false, true}) {
    CAPTURE(higher_order);
    Tensor logits = ones({2, 3}).set_trainable();
    Tape tape({.higher_order = higher_order});
    CHECK(std::isnan(cross_entropy(logits, integers({2}, {-100, -100})).item()));
  }
}

TEST_CASE("cross entropy of an impossible target is infinite") {
  CHECK(cross_entropy(row({0, -inf}), integers({}, {1})).item() == inf);
}

TEST_CASE("relu has slope zero at zero") {
  CHECK(gradient_of([](In x) { return squared_relu(x[0]); }, row({-1, 0, 3})) ==
        std::vector<double>{0, 0, 6});
  CHECK(gradient_of([](In x) { return relu(x[0]); }, row({-1, 0, 1})) == std::vector<double>{0, 0, 1});
}

TEST_CASE("relu passes the gradient on where its input is NaN, as PyTorch does") {
  const Tensor x = tensor({3}, std::vector<double>{-1, nan, 2}).set_trainable();
  Tape tape;
  tape.backward(relu(x), tensor({3}, std::vector<double>{5, 6, 7}));
  CHECK(x.grad().to_vector<double>() == std::vector<double>{0, 6, 7});
}

TEST_CASE("max shares its gradient among ties and passes NaN on") {
  CHECK(gradient_of([](In x) { return max(x[0]); }, row({3, 1, 3})) == std::vector<double>{0.5, 0, 0.5});
  check_values(max(row({1, nan, 3})), {nan});
  check_values(max(row({-inf, -inf})), {-inf});
}

TEST_CASE("sums of nothing are zero, means of nothing NaN") {
  check_values(sum(zeros({0})), {0});
  check_values(sum(zeros({0, 2}), {0}), {0, 0});
  check_values(mean(zeros({0})), {nan});
  check_values(mean(zeros({0, 2}), {0}), {nan, nan});
  check_values(matmul(zeros({2, 0}), zeros({0, 1})), {0, 0});
}

TEST_CASE("softmax of rows without elements has none either, and neither has its gradient") {
  for (const bool logarithm : {false, true}) {
    const Tensor x = zeros({3, 0}).set_trainable();
    Tape tape;
    const Tensor y = logarithm ? log_softmax(x) : softmax(x);
    CHECK(y.shape() == Shape{3, 0});
    tape.backward(sum(y));
    CHECK(x.grad().shape() == Shape{3, 0});
  }
}

TEST_CASE("the variance of one sample is NaN, of a population of one zero") {
  check_values(var(row({5})), {nan});
  check_values(var(row({5}), std::nullopt, false, 0), {0});
}

TEST_CASE("a constant row is normalized to zero, whatever its size") {
  for (double level : {0.0, 1.0, 1e6}) {
    CAPTURE(level);
    check_values(layer_norm(full({1, 4}, level), 4, {}, {}, 1e-5), {0, 0, 0, 0});
  }
  check_values(rms_norm(zeros({1, 3}), 3, {}, 1e-5), {0, 0, 0});
}

TEST_CASE("norms of f32 keep their digits far from zero") {
  // 10000 + {0, 1, 2, 3}: the mean of squares would lose the variance, two passes keep it.
  const Tensor x = affine(arange(4, Dtype::f32), 1, 10000);
  const Tensor shifted = layer_norm(reshape(x, {1, 4}), 4, {}, {}, 0);
  const Tensor plain = layer_norm(reshape(arange(4, Dtype::f32), {1, 4}), 4, {}, {}, 0);
  for (int64_t i = 0; i < 4; ++i)
    CHECK(shifted.at({0, i}) == doctest::Approx(plain.at({0, i})).epsilon(1e-6));
}

TEST_CASE("statistics given to batch norm count as constants") {
  Tensor x = Rng(1).normal({4, 2}).set_trainable();
  Tensor mean = zeros({2}).set_trainable(), variance = ones({2}).set_trainable();
  Tape tape;
  tape.backward(sum(batch_norm(x, {}, {}, 1e-5, mean, variance)));
  CHECK(x.grad().defined());
  CHECK(!mean.grad().defined());
  CHECK(!variance.grad().defined());
}

TEST_CASE("dropout keeps the mean, zeroes the promised share and repeats with its key") {
  const Tensor x = ones({100000});
  const Tensor y = dropout(x, 0.25, Rng(3));
  int64_t zeroed = 0, kept = 0;
  for (float v : y.to_vector<float>()) {
    zeroed += v == 0;
    kept += v == 1 / 0.75f;
  }
  CHECK(zeroed + kept == 100000);
  // Six standard deviations of a binomial count with n = 100000, p = 0.25.
  CHECK(std::abs(zeroed - 25000) < 6 * std::sqrt(100000 * 0.25 * 0.75));
  CHECK(dropout(x, 0.25, Rng(3)).to_vector<float>() == y.to_vector<float>());
  CHECK(dropout(x, 0.25, Rng(4)).to_vector<float>() != y.to_vector<float>());
}

TEST_CASE("rope keeps lengths, and products depend on the distance alone") {
  for (RopeStyle style : {RopeStyle::half_split, RopeStyle::interleaved}) {
    const Tensor q = Rng(1).normal({1, 1, 1, 8}, 0, 1, Dtype::f64);
    const Tensor k = Rng(2).normal({1, 1, 1, 8}, 0, 1, Dtype::f64);
    const auto product = [&](int64_t m, int64_t n) {
      return sum(rope(q, 100, m, style) * rope(k, 100, n, style)).item();
    };
    CHECK(product(3, 1) == doctest::Approx(product(12, 10)).epsilon(1e-12));
    CHECK(std::abs(product(3, 1) - product(3, 2)) > 1e-3);
    CHECK(sum(square(rope(q, 100, 5, style))).item() ==
          doctest::Approx(sum(square(q)).item()).epsilon(1e-12));
  }
}

TEST_CASE("rope turns by its own angles, whatever was asked before") {
  // Tables of angles are kept and shared: more keys than are kept, each differing from the first in one
  // thing, asked for in turn, twice. (a, b) = (1, 2) in every pair; angles below 100, whose cosines are right
  // to 1e-14.
  struct Key {
    int64_t time, dim;
    double base;
    int64_t start;
  };
  const std::vector<Key> keys = {{7, 6, 1e4, 0}, {8, 6, 1e4, 0}, {7, 8, 1e4, 0}, {7, 6, 100, 0},
                                 {7, 6, 1e4, 3}, {1, 2, 1e4, 9}, {3, 66, 1e4, 0}};
  for (int round = 0; round < 2; ++round)
    for (const Key& key : keys)
      for (const Dtype dtype : {Dtype::f64, Dtype::f32}) {
        CAPTURE(key.time);
        CAPTURE(key.dim);
        const int64_t half = key.dim / 2;
        std::vector<double> ones_and_twos(key.time * key.dim);
        for (size_t i = 0; i < ones_and_twos.size(); ++i)
          ones_and_twos[i] = static_cast<int64_t>(i) % key.dim < half ? 1 : 2;
        const Tensor x = raw::cast(tensor({1, key.time, 1, key.dim}, ones_and_twos), dtype);
        const std::vector<double> y = rope(x, key.base, key.start).to_vector<double>();
        double worst = 0;
        for (int64_t t = 0; t < key.time; ++t)
          for (int64_t j = 0; j < half; ++j) {
            const double angle =
                static_cast<double>(key.start + t) *
                std::pow(key.base, -2 * static_cast<double>(j) / static_cast<double>(key.dim));
            const double* const row = &y[t * key.dim];
            worst = std::max(worst, std::abs(row[j] - (std::cos(angle) - 2 * std::sin(angle))));
            worst = std::max(worst, std::abs(row[j + half] - (std::sin(angle) + 2 * std::cos(angle))));
          }
        CHECK(worst <= (dtype == Dtype::f64 ? 1e-13 : 1e-6));
      }
}

TEST_CASE("rope and embedding gradients have the same bits for 1, 2, 3 and 8 threads") {
  const Tensor x = Rng(1).normal({2, 511, 3, 34});
  const Tensor dy = Rng(2).normal({1025, 17}), indices = Rng(3).integers({1025}, 513);
  std::vector<std::vector<float>> turned, summed;
  for_thread_counts([&] {
    turned.push_back(rope(x, 1e4).to_vector<float>());
    turned.push_back(rope(x, 1e4, 0, RopeStyle::interleaved).to_vector<float>());
    summed.push_back(index_add(zeros({513, 17}), 0, indices, dy).to_vector<float>());
  });
  for (size_t i = 2; i < turned.size(); ++i) CHECK(turned[i] == turned[i % 2]);
  for (const auto& sum_of_one : summed) CHECK(sum_of_one == summed[0]);
  // And each row is the sum of its own in ascending order.
  std::vector<float> wanted(513 * 17);
  for (int64_t j = 0; j < 1025; ++j)
    for (int64_t c = 0; c < 17; ++c)
      wanted[static_cast<int64_t>(indices.at({j})) * 17 + c] += static_cast<float>(dy.at({j, c}));
  CHECK(summed[0] == wanted);
}

TEST_CASE("causal attention does not see later keys") {
  const Tensor q = Rng(1).normal({1, 4, 2, 3}), k = Rng(2).normal({1, 4, 1, 3});
  const Tensor v = Rng(3).normal({1, 4, 1, 3});
  const Tensor later = concat({slice(k, 1, 0, 3), full({1, 1, 1, 3}, 99.0)}, 1);
  const std::vector<float> a = slice(attention(q, k, v, {.causal = true}), 1, 0, 3).to_vector<float>();
  CHECK(slice(attention(q, later, v, {.causal = true}), 1, 0, 3).to_vector<float>() == a);
  CHECK(slice(attention(q, later, v), 1, 0, 3).to_vector<float>() != a);
}

TEST_CASE("views share their storage") {
  const Tensor x = Rng(1).normal({3, 4});
  for (const Tensor& view :
       {transpose(x), permute(x, {1, 0}), reshape(x, {12}), slice(x, 0, 1, 2), broadcast_to(x, {2, 3, 4})})
    CHECK(raw::storage(view) == raw::storage(x));
}

}  // namespace isobar::ops_value_test
