// norm_properties as its users meet it.
#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <utility>

#include "../experiments/harness/json.h"
#include "program.h"
#include "temporary_folder.h"

using namespace isobar;
using doctest::Approx;

TEST_CASE("norm_properties' figures are the closed forms, the same on one and on two threads") {
  const TemporaryFolder folder;
  for (const char* threads : {"1", "2"}) {
    const Outcome run = run_built(
        "norm_properties", std::string("--seeds 2 --threads ") + threads + " --out " + folder / threads);
    INFO(run.out, run.err);
    REQUIRE(run.code == 0);
  }
  CHECK(file_text(folder / "1/figures.csv") == file_text(folder / "2/figures.csv"));

  const Json measured = Json::parse(file_text(folder / "1/summary.json"))["measured"];
  const auto at = [&](const std::string& key) {
    REQUIRE_MESSAGE(measured.contains(key), key);
    return measured[key];
  };
  // √in. The variance is over 32 rows of χ² with `in` degrees of freedom: the std is uncertain by 1/√(64 in), 1.1 %
  // for 128, and by 1/√(2 in out) more, below 0.4 %.
  for (const auto& [product, in] : {std::pair{"128_to_512", 128},
                                    {"512_to_128", 512},
                                    {"512_to_512", 512},
                                    {"512_to_2048", 512},
                                    {"2048_to_512", 2048}}) {
    const Json seen = at(std::string("product.std.") + product);
    CHECK(seen["theory"].get<double>() == Approx(std::sqrt(in)));
    CHECK(seen["median"].get<double>() == Approx(std::sqrt(in)).epsilon(0.05));
  }
  // BatchNorm's error over 4096 channels, whose mean square has a std of about √(2/4096): half of that, and room
  // for the heavy tails of batches of two. Literals: √(2 − 2 E s), E s by Python's math.lgamma.
  for (const auto& [batch, error] : {std::pair{"b2", 0.93361}, {"b8", 0.44113}, {"b32", 0.21750}}) {
    const Json seen = at(std::string("batch.batchnorm.error.") + batch);
    CHECK(seen["theory"].get<double>() == Approx(error).epsilon(1e-4));
    CHECK(seen["median"].get<double>() == Approx(error).epsilon(0.05));
  }
  // 1/√2, over 64 rows each uncertain by 0.019.
  CHECK(at("skew.layernorm_cosine.mean")["median"].get<double>() == Approx(std::sqrt(0.5)).epsilon(0.02));
  CHECK(at("rescale.example.population_std_error")["median"].get<double>() == Approx(0.3595).epsilon(1e-3));
  CHECK(at("zero.rmsnorm.with_eps")["median"] == 0);
  CHECK(at("zero.rmsnorm.without_eps.is_nan")["median"] == 1);
}
