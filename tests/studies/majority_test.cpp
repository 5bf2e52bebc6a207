// majority as its users meet it: it learns, its pairs are pairs, and what it refuses.
#include <doctest/doctest.h>

#include "../../data/hdf5_file.h"
#include "../run.h"

namespace isobar::majority_test {

using doctest::Approx;

TEST_CASE("one layer learns which token is the most frequent, and longer vectors learn it sooner") {
  const auto measured =
      measured_of("majority", "--norms rmsnorm,rmsnorm_short --depths 1 --seeds 1 --steps 130");
  const auto value = [&](const std::string& key) { return value_of(measured, key); };
  CHECK(value("rmsnorm.L1.accuracy") > 0.85);  // its own token: 0.42
  CHECK(value("rmsnorm_short.L1.accuracy") < 0.8);
  CHECK(value("rmsnorm.L1.steps") <= 130);
  CHECK(measured.at("rmsnorm_short.L1.steps").at("nonfinite") == 1);  // never: infinite, not the last step
  CHECK(value("rmsnorm_short_minus_rmsnorm.L1.accuracy") ==
        Approx(value("rmsnorm_short.L1.accuracy") - value("rmsnorm.L1.accuracy")));
  CHECK_FALSE(measured.contains("rmsnorm_minus_rmsnorm.L1.accuracy"));
}

TEST_CASE("at a learning rate near 0 a layer stays where its seed began, whatever other norms are run") {
  const TemporaryFolder folder;
  const std::string small = "--depths 1,2 --learning_rate 1e-30 --steps 20 --batch 2 --seeds 2 --norms ";
  const Outcome run = ran("majority", small + "rmsnorm,none,layernorm --json --out " + folder / "run");
  const auto measured = nlohmann::json::parse(run.out).at("measured");
  const auto others = measured_of("majority", small + "layernorm,rmsnorm");
  const Hdf5File file = Hdf5File::open(folder / "run/run.h5");
  for (const std::string net : {"rmsnorm.L1", "rmsnorm.L2", "layernorm.L1", "layernorm.L2"}) {
    CAPTURE(net);
    const Tensor accuracy = file.read("/series/" + net);  // (seeds, evaluations)
    REQUIRE(accuracy.shape() == Shape{2, 3});
    for (int64_t seed = 0; seed < 2; ++seed) {
      CHECK(accuracy.at({seed, 0}) < 0.6);  // its own token: 0.42
      CHECK(accuracy.at({seed, 1}) == accuracy.at({seed, 0}));
      CHECK(accuracy.at({seed, 2}) == accuracy.at({seed, 0}));
    }
    CHECK(measured.at(net + ".accuracy").at("values") == others.at(net + ".accuracy").at("values"));
  }
}

}  // namespace isobar::majority_test
