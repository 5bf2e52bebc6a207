// norm_properties as its users meet it, and the literals of PyTorch that it leans on.
#include <doctest/doctest.h>

#include <cmath>
#include <utility>

#include "study_run.h"

namespace isobar::fixtures {

extern const char torch_norms[];
}

namespace isobar::norm_properties_test {

using doctest::Approx;

using Row = std::vector<double>;

Row numbers(const Json& entry) { return entry.at("values").get<Row>(); }

// What a plain loop over one row of 8 makes of x. A divisor of 7 makes it a sample variance.
struct Loop {
  bool centred;
  double eps_inside, eps_outside, divisor;

  Row operator()(const Row& x, size_t begin) const {
    double mean = 0, squares = 0;
    for (size_t i = 0; i < 8; ++i) mean += centred ? x[begin + i] / 8 : 0;
    for (size_t i = 0; i < 8; ++i) squares += (x[begin + i] - mean) * (x[begin + i] - mean);
    Row y(8);
    for (size_t i = 0; i < 8; ++i)
      y[i] = (x[begin + i] - mean) / (std::sqrt(squares / divisor + eps_inside) + eps_outside);
    return y;
  }
};

double largest_error(const Json& recorded, const Loop& loop) {
  const Row x = numbers(recorded["x"]), weight = numbers(recorded["weight"]), y = numbers(recorded["y"]);
  const Row bias = recorded.contains("bias") ? numbers(recorded["bias"]) : Row(8);
  double most = 0;
  for (size_t begin = 0; begin < x.size(); begin += 8) {
    const Row row = loop(x, begin);
    for (size_t i = 0; i < 8; ++i)
      most = std::max(most, std::abs(row[i] * weight[i] + bias[i] - y[begin + i]));
  }
  return most;
}

TEST_CASE("PyTorch's literals agree with the definitions, and with no similar formula") {
  const Json all = Json::parse(fixtures::torch_norms);
  // 1e-14: a few roundings of numbers up to 3.
  CHECK(largest_error(all["layernorm"], {true, 1e-5, 0, 8}) < 1e-14);
  CHECK(largest_error(all["rmsnorm"], {false, 1e-5, 0, 8}) < 1e-14);
  // The bound of definitions_test.cpp is 1e-13: it sees an eps outside the root, another eps, a sample
  // variance, and a missing or superfluous mean.
  for (const Loop& wrong :
       {Loop{true, 0, 1e-5, 8}, Loop{true, 1e-6, 0, 8}, Loop{true, 1e-5, 0, 7}, Loop{false, 1e-5, 0, 8}})
    CHECK(largest_error(all["layernorm"], wrong) > 1e-7);
  for (const Loop& wrong :
       {Loop{false, 0, 1e-5, 8}, Loop{false, 1e-6, 0, 8}, Loop{false, 1e-5, 0, 7}, Loop{true, 1e-5, 0, 8}})
    CHECK(largest_error(all["rmsnorm"], wrong) > 1e-7);
  // Biased output, unbiased running variance: 0.75 · 1 + 0.25 · Σ(x − mean)²/5 of the first channel.
  const Json& batch = all["batchnorm"];
  const Row x = numbers(batch["x"]);
  double mean = 0, squares = 0;
  for (size_t r = 0; r < 6; ++r) mean += x[8 * r] / 6;
  for (size_t r = 0; r < 6; ++r) squares += (x[8 * r] - mean) * (x[8 * r] - mean);
  CHECK(numbers(batch["running_var"])[0] == Approx(0.75 + 0.25 * squares / 5).epsilon(1e-14));
  CHECK(numbers(batch["running_mean"])[0] == Approx(0.25 * mean).epsilon(1e-14));
}

TEST_CASE("norm_properties' measurements are the closed forms") {
  const StudyRun run("norm_properties", "--seeds 2");
  // √in. The variance is over 32 rows of χ² with `in` degrees of freedom: the std is uncertain by 1/√(64 in),
  // 1.1 % for 128, and by 1/√(2 in out) more, below 0.4 %.
  for (const auto& [product, in] : {std::pair{"128_to_512", 128},
                                    {"512_to_128", 512},
                                    {"512_to_512", 512},
                                    {"512_to_2048", 512},
                                    {"2048_to_512", 2048}}) {
    const std::string key = std::string("product.std.") + product;
    CHECK(run(key, "theory") == Approx(std::sqrt(in)));
    CHECK(run(key) == Approx(std::sqrt(in)).epsilon(0.05));
  }
  // BatchNorm's error over 4096 channels, whose mean square has a std of about √(2/4096): half of that, and
  // room for the heavy tails of batches of two. Literals: √(2 − 2 E s), E s by Python's math.lgamma.
  for (const auto& [batch, error] : {std::pair{"b2", 0.93361}, {"b8", 0.44113}, {"b32", 0.21750}}) {
    const std::string key = std::string("batch.batchnorm.error.") + batch;
    CHECK(run(key, "theory") == Approx(error).epsilon(1e-4));
    CHECK(run(key) == Approx(error).epsilon(0.05).scale(0));
  }
  // 1/√2, over 64 rows each uncertain by 0.019.
  CHECK(run("skew.layernorm_cosine.mean") == Approx(std::sqrt(0.5)).epsilon(0.02));
  CHECK(run("rescale.example.population_std_error") == Approx(0.3595).epsilon(1e-3));
  CHECK(run("zero.rmsnorm.with_eps") == 0);
  CHECK(run("zero.rmsnorm.without_eps.is_nan") == 1);
  CHECK(run("zero.rmsnorm.gradient_with_eps") == Approx(1000));  // 1/√1e-6
  CHECK(run("zero.rmsnorm.gradient_without_eps.is_nan") == 1);
  CHECK(run("information.doubled.change", "max") == 0);
  CHECK(run("information.doubled.change_with_eps_in_f32", "min") == Approx(0.375e-5).epsilon(0.1).scale(0));
  // 1.641 = 0.3265/0.3408^1.5, 0.620 = (2 Φ(0.3989) − 1)/½; of 2 × 64 rows of 512, uncertain by 0.01.
  CHECK(run("symmetry.skewness.before", "theory") == Approx(1.641).epsilon(1e-3));
  CHECK(run("symmetry.skewness.before") == Approx(1.641).epsilon(0.05));
  CHECK(run("symmetry.imbalance.after_over_before", "theory") == Approx(0.6201).epsilon(1e-3));
  CHECK(run("symmetry.imbalance.after_over_before") == Approx(0.6201).epsilon(0.1));
  CHECK(run("count.rmsnorm512_without_weight") == 0);
  // normalization_comparison.py: 1000 × 512 numbers, so that a mean is uncertain by 5/√512000 = 0.007.
  CHECK(run("script.comparison.rmsnorm.mean") == Approx(2 / std::sqrt(29)).epsilon(0.03));
  CHECK(run("script.comparison.rmsnorm.std") == Approx(5 / std::sqrt(29)).epsilon(0.01));
  CHECK(run("script.explained.rmsnorm.rms") == Approx(1).epsilon(5e-5));
  CHECK(run("script.explained.input.max") > 3);  // of 10,240 numbers N(0, 1)
  CHECK(run("torch.minimind_block.error") <= 1e-13);
  CHECK(run("torch.minimind_block.post_norm.difference") > 1e-3);
  CHECK(run("torch.promotion.fp16_times_f32_is_f32") == 1);
}

}  // namespace isobar::norm_properties_test
