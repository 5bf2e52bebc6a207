// Sums, means and extrema of integers and masks; what makes integers; and the losses' options.
#include "../message_of.h"
#include "op_edges.h"

namespace isobar::integers_test {

TEST_CASE("the mean of a comparison is the accuracy") {
  const Tensor logits = tensor({4, 3}, {0, 1, 2, 5, 1, 2, 0, 3, 1, 0, 1, 7}),
               y = tensor({2, 0, 0, 2}, Dtype::i64);
  CHECK(mean(argmax(logits, -1) == y).item() == 0.75);
  CHECK(mean(argmax(logits, -1) == y).dtype() == Dtype::f64);
  CHECK(std::isnan(mean(zeros({0}, Dtype::boolean)).item()));
}

TEST_CASE("integers and masks have exact sums, of i64") {
  const Tensor x = tensor({2, 3}, {1, -2, 3, 4, 5, -6}, Dtype::i32);
  CHECK(sum(x).dtype() == Dtype::i64);
  CHECK(sum(x).item() == 5);
  CHECK(sum(x, 0).to_vector<int64_t>() == std::vector<int64_t>{5, 3, -3});
  CHECK(sum(x, -1, true).shape() == Shape{2, 1});
  CHECK(mean(x, 1).to_vector<double>() == std::vector<double>{2.0 / 3, 1});
  CHECK(sum(x > 0).item() == 4);
  // The order of the elements does not overflow where the sum fits.
  constexpr int64_t most = std::numeric_limits<int64_t>::max(), least = std::numeric_limits<int64_t>::min();
  const auto total = [](const std::vector<int64_t>& values) {
    return sum(tensor({static_cast<int64_t>(values.size())}, values)).to_vector<int64_t>()[0];
  };
  CHECK(total({most, most, least, least, 5}) == 3);
  CHECK(total({most, least}) == -1);
  CHECK(total({least, 1, -1}) == least);
  CHECK(total({most}) == most);
  CHECK(total({}) == 0);
  CHECK_THROWS_AS(total({most, 1}), Error);
  CHECK_THROWS_AS(total({least, -1}), Error);
  CHECK_THROWS_AS(total({least, least}), Error);
}

TEST_CASE("integers have a largest and a smallest element, and can be selected") {
  const Tensor x = tensor({2, 3}, {1, -2, 3, 4, 5, -6}, Dtype::i64);
  CHECK(max(x).item() == 5);
  CHECK(max(x).dtype() == Dtype::i64);
  CHECK(min(x, 0).to_vector<int64_t>() == std::vector<int64_t>{1, -2, -6});
  CHECK(index_select(x, 1, tensor({2, 0}, Dtype::i64)).to_vector<int64_t>() ==
        std::vector<int64_t>{3, 1, -6, 4});
  CHECK(nonzero(x < 0).to_vector<int64_t>() == std::vector<int64_t>{0, 1, 1, 2});
  CHECK(nonzero(zeros({3, 2})).shape() == Shape{0, 2});
  CHECK(repeat(x, {1, 2}).to_vector<int64_t>() ==
        std::vector<int64_t>{1, -2, 3, 1, -2, 3, 4, 5, -6, 4, 5, -6});
  CHECK(roll(x, 1, -1).to_vector<int64_t>() == std::vector<int64_t>{3, 1, -2, -6, 4, 5});
}

// docs/reference/pytorch.md names these compositions.
TEST_CASE("log2, Bernoulli and multinomial draws are short compositions") {
  CHECK((log(tensor({0.125, 1, 8}, Dtype::f64)) / std::log(2.0)).to_vector<double>() ==
        std::vector<double>{-3, 0, 3});
  constexpr int64_t n = 20'000;
  const Rng rng(0);
  // Within four standard errors of p.
  CHECK(std::abs(mean(rng.split("mask").uniform({n}) < 0.3).item() - 0.3) < 4 * std::sqrt(0.3 * 0.7 / n));
  const Tensor logits = broadcast_to(log(tensor({0.5, 0.3, 0.2})), {n, 3});
  const Tensor drawn = argmax(logits - log(-log(rng.split("draw").uniform(logits.shape()))), -1);
  for (const auto& [index, p] : {std::pair{0, 0.5}, {1, 0.3}, {2, 0.2}})
    CHECK(std::abs(mean(drawn == index).item() - p) < 4 * std::sqrt(p * (1 - p) / n));
}

TEST_CASE("one type names the dimensions of a reduction") {
  const Tensor x = tensor({2, 3}, {1, 2, 3, 4, 5, 6});
  const int64_t last = 1;
  CHECK(sum(x, -1).to_vector<float>() == std::vector<float>{6, 15});
  CHECK(mean(x, last, true).shape() == Shape{2, 1});
  CHECK(sum(x, {0, 1}, true).shape() == Shape{1, 1});
  CHECK(norm(x, 2, 0).shape() == Shape{3});
  CHECK(norm(x, 1.0f).item() == 21);
  CHECK(sort(x, 0, true).values.to_vector<float>() == std::vector<float>{4, 5, 6, 1, 2, 3});
  CHECK(topk(x, 1, -1, false).indices.to_vector<int64_t>() == std::vector<int64_t>{0, 0});
  CHECK(argmax(x, 0, true).shape() == Shape{1, 3});
  CHECK(max_with_indices(x, -1).values.to_vector<float>() == std::vector<float>{3, 6});
}

TEST_CASE("rounding goes down, up, to zero and to even, as PyTorch has it") {
  const Tensor x = row({-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 1e300, nan, inf});
  check_values(round(x), {-2, -2, 0, 0, 2, 2, 1e300, nan, inf});
  check_values(floor(x), {-3, -2, -1, 0, 1, 2, 1e300, nan, inf});
  check_values(ceil(x), {-2, -1, 0, 1, 2, 3, 1e300, nan, inf});
  check_values(trunc(x), {-2, -1, 0, 0, 1, 2, 1e300, nan, inf});
}

TEST_CASE("leaky_relu and elu stay finite far from zero, and pass NaN on") {
  check_op([](In x) { return leaky_relu(x[0], 0.2); }, {{-0.3, 0, 1.3, -inf, inf, nan}},
           {-0.06, 0, 1.3, -inf, inf, nan}, {{0.2, 0.2, 1, 0.2, 1, 1}});
  check_op([](In x) { return elu(x[0], 1.5); }, {{-1000, 0, 1000}}, {-1.5, 0, 1000}, {{0, 1.5, 1}});
}

// Literals: torch.nn.functional.cross_entropy of PyTorch 1.13.0, float64.
TEST_CASE("label smoothing, class weights, sum and none are those of PyTorch") {
  Doubles values;
  for (int64_t i = 0; i < 20; ++i) values.push_back(static_cast<double>((i * 37 + 11) % 29 - 14) / 10);
  const Tensor x = tensor({4, 5}, values).set_trainable(), y = tensor({1, -100, 4, 0}, Dtype::i64);
  const Tensor weight = tensor({0.5, 2, 0.25, 1, 3}, Dtype::f64);
  const auto loss = [&](const CrossEntropyOptions& options, const Doubles& wanted, const Doubles& first_row) {
    for (const bool higher_order : {false, true}) {
      Tape tape({.higher_order = higher_order});
      const Tensor l = cross_entropy(x, y, options);
      check_values(l, wanted, 1e-14);
      check_values(select(tape.gradient(sum(l), {x})[0], 0, 0), first_row, 1e-13);
    }
  };
  loss({.reduction = Reduction::sum}, {5.9353643477476492},
       {0.098668344200458794, -0.78040956163529651, 0.48870750808625024, 0.059845375900657458,
        0.13318833344792999});
  loss({.reduction = Reduction::none}, {1.5159911114390421, 0, 2.7229392123852891, 1.696434023923318},
       {0.098668344200458794, -0.78040956163529651, 0.48870750808625024, 0.059845375900657458,
        0.13318833344792999});
  loss({.weight = weight}, {2.1907303403628386},
       {0.035879397891075929, -0.28378529514010781, 0.17771182112227282, 0.021761954872966349,
        0.048432121253792725});
  loss({.label_smoothing = 0.2}, {1.9637881159158832},
       {0.019556114733486257, -0.20680318721176549, 0.14956916936208337, 0.0066151253002191476,
        0.031062777815976654});
  loss({.weight = weight, .label_smoothing = 0.2}, {2.0297748857251556},
       {0.029910873391792357, -0.23079379641054629, 0.16434237093114329, 0.013074700533496264,
        0.023465851554114379});
  loss({.weight = weight, .label_smoothing = 0.2, .reduction = Reduction::sum}, {11.163761871488356},
       {0.16450980365485796, -1.2693658802580046, 0.90388304012128795, 0.071910852934229455,
        0.12906218354762911});
}

}  // namespace isobar::integers_test
