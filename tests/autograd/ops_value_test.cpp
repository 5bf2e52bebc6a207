// Values and gradients of ops at the edges, as IEEE arithmetic or the definition says. (Elsewhere:
// spec/same_as_spec.cpp and torch_cases/.)
#include "../../autograd/tape.h"
#include "../op_table.h"
#include "../same_tensors.h"
#include "../small_tensors.h"
#include "../thread_counts.h"

namespace isobar::ops_value_test {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

Doubles gradient_of(const TensorFunction& f, Tensor x) {
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

TEST_CASE("what spec/ does not define follows its formula") {
  const Tensor x = tensor({2, 3}, Doubles{1, 2, 4, 5, 5, 2});
  check_values(log_softmax(x), log(softmax(x)).to_vector<double>(), 1e-14);
  check_values(max(x, {1}), {4, 5});
  check_values(var(x, {1}), {7 / 3.0, 3}, 1e-14);
  check_values(var(x, {1}, false, 0), {14 / 9.0, 2}, 1e-14);
  const Tensor w = row({2, 3, 5}), b = row({1, 0, -1}), inv_rho = row({0.7});
  const double root = std::sqrt(3);
  check_values(dyt_sqrtd(x, inv_rho, w, b), (root * tanh(x * (0.7 / root)) * w + b).to_vector<double>(),
               1e-14);
  check_values(batch_norm(x, w, b, 0.5, row({1, 2, 3}), row({0.5, 3.5, 8.5})),
               ((x - row({1, 2, 3})) / row({1, 2, 3}) * w + b).to_vector<double>(), 1e-14);
  // Neighbours are turned as halves are.
  const Tensor pairs = Rng(1).normal({1, 3, 1, 6}, 0, 1, Dtype::f64);
  const auto halves_of = [](const Tensor& t) { return transpose(reshape(t, {1, 3, 1, 3, 2}), 3, 4); };
  check_values(contiguous(halves_of(rope(pairs, 1e4, 2, RopeStyle::interleaved))),
               rope(reshape(halves_of(pairs), {1, 3, 1, 6}), 1e4, 2).to_vector<double>(), 1e-14);
}

TEST_CASE("elementwise ops treat infinity and NaN as IEEE says") {
  for_both_dtypes([](Dtype dtype) {
    const Tensor edge = row({-inf, 0, inf, nan}, dtype);
    check_values(exp(edge), {0, 1, inf, nan});
    check_values(tanh(edge), {-1, 0, 1, nan});
    check_values(sigmoid(edge), {0, 0.5, 1, nan});
    check_values(erf(edge), {-1, 0, 1, nan});
    check_values(relu(edge), {0, 0, inf, nan});
    check_values(squared_relu(edge), {0, 0, inf, nan});
    check_values(square(edge), {inf, 0, inf, nan});
    check_values(log(row({-1, 0, 1, inf, nan}, dtype)), {nan, -inf, 0, inf, nan});
    check_values(sqrt(row({-1, 0, 4, inf, nan}, dtype)), {nan, 0, 2, inf, nan});
    check_values(reciprocal(row({0, 4, inf, nan}, dtype)), {inf, 0.25, 0, nan});
    check_values(row({0, 1, inf}, dtype) / row({0, 0, inf}, dtype), {nan, inf, nan});
  });
}

TEST_CASE("activations stay finite where their exponentials overflow") {
  for_both_dtypes([](Dtype dtype) {
    const Tensor far = row({-1e4, 1e4}, dtype);
    check_values(sigmoid(far), {0, 1});
    check_values(tanh(far), {-1, 1});
    check_values(softcap(far, 50), {-50, 50});
    using Op = Tensor (*)(const Tensor&);
    for (const Op op : {Op{silu}, Op{gelu}, Op{gelu_tanh}}) {
      check_values(op(far), {0, 1e4});
      CHECK(gradient_of([op](In x) { return op(x[0]); }, far) == Doubles{0, 1});
    }
  });
}

TEST_CASE("denormal numbers are kept") {
  CHECK(affine(full({3}, 1e-40), 0.5, 0).at({0}) == doctest::Approx(5e-41).epsilon(1e-4));
  CHECK(relu(full({3}, 1e-40)).at({0}) > 0);
  CHECK(sum(full({3}, 1e-40)).item() > 2e-40);
}

TEST_CASE("softmax gives weight zero to minus infinity and NaN to a row with plus infinity") {
  for_both_dtypes([](Dtype dtype) {
    check_values(softmax(row({-inf, 0, 0, -inf}, dtype)), {0, 0.5, 0.5, 0});
    check_values(softmax(row({inf, 0}, dtype)), {nan, nan});
    check_values(softmax(row({-inf, -inf}, dtype)), {nan, nan});
    check_values(log_softmax(row({-inf, -inf}, dtype)), {nan, nan});
    check_values(softmax(row({nan, 0}, dtype)), {nan, nan});
    check_values(softmax(row({1e4, 1e4, -1e4, 1e4, 1e4}, dtype)), {0.25, 0.25, 0, 0.25, 0.25});
    check_values(softmax(reshape(row({inf, 0, 1, 1}, dtype), {2, 2})), {nan, nan, 0.5, 0.5});  // row by row
    check_values(log_softmax(row({-inf, 0}, dtype)), {-inf, 0});
    check_values(log_softmax(row({1e4, -1e4}, dtype)), {0, -2e4});
  });
}

TEST_CASE("a masked class costs cross entropy nothing, on either tape") {
  for (bool higher_order : {false, true}) {
    CAPTURE(higher_order);
    Tensor logits = tensor({1, 3}, Doubles{0, -inf, 0}).set_trainable();
    Tape tape({.higher_order = higher_order});
    const Tensor loss = cross_entropy(logits, integers(2));
    CHECK(loss.item() == doctest::Approx(std::log(2.0)).epsilon(1e-14));
    check_values(tape.gradient(loss, {logits})[0], {0.5, 0, -0.5});
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

TEST_CASE("relu has slope zero at zero") {
  CHECK(gradient_of([](In x) { return squared_relu(x[0]); }, row({-1, 0, 3})) == Doubles{0, 0, 6});
  CHECK(gradient_of([](In x) { return relu(x[0]); }, row({-1, 0, 1})) == Doubles{0, 0, 1});
}

TEST_CASE("relu passes the gradient on where its input is NaN, as PyTorch does") {
  const Tensor x = row({-1, nan, 2}).set_trainable();
  Tape tape;
  tape.backward(relu(x), row({5, 6, 7}));
  CHECK(x.grad().to_vector<double>() == Doubles{0, 6, 7});
}

TEST_CASE("max shares its gradient among ties and passes NaN on") {
  CHECK(gradient_of([](In x) { return max(x[0]); }, row({3, 1, 3})) == Doubles{0.5, 0, 0.5});
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
        INFO("time ", key.time, ", dim ", key.dim);
        const int64_t half = key.dim / 2;
        Doubles ones_and_twos(key.time * key.dim);
        for (size_t i = 0; i < ones_and_twos.size(); ++i)
          ones_and_twos[i] = static_cast<int64_t>(i) % key.dim < half ? 1 : 2;
        const Tensor x = raw::cast(tensor({1, key.time, 1, key.dim}, ones_and_twos), dtype);
        const Doubles y = rope(x, key.base, key.start).to_vector<double>();
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
  check_same_on_threads([&] { return rope(x, 1e4).to_vector<float>(); });
  check_same_on_threads([&] { return rope(x, 1e4, 0, RopeStyle::interleaved).to_vector<float>(); });
  const std::vector<float> summed = check_same_on_threads([&] {
    return index_add(zeros({513, 17}), 0, indices, dy).to_vector<float>();
  });
  // And each row is the sum of its own in ascending order.
  std::vector<float> wanted(513 * 17);
  for (int64_t j = 0; j < 1025; ++j)
    for (int64_t c = 0; c < 17; ++c)
      wanted[static_cast<int64_t>(indices.at({j})) * 17 + c] += static_cast<float>(dy.at({j, c}));
  CHECK(summed == wanted);
}

TEST_CASE("views share their storage") {
  const Tensor x = Rng(1).normal({3, 4});
  for (const Tensor& view :
       {transpose(x), permute(x, {1, 0}), reshape(x, {12}), slice(x, 0, 1, 2), broadcast_to(x, {2, 3, 4})})
    CHECK(raw::storage(view) == raw::storage(x));
}

}  // namespace isobar::ops_value_test
