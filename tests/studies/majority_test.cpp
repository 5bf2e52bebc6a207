// majority as its users meet it: it learns, its pairs are pairs, and what it refuses.
#include "study_run.h"

namespace isobar::majority_test {

using doctest::Approx;

TEST_CASE("one layer learns which token is the most frequent, and longer vectors learn it sooner") {
  const StudyRun run("majority", "--norms rmsnorm,rmsnorm_short --depths 1 --seeds 1 --steps 130");
  CHECK(run("rmsnorm.L1.accuracy") > 0.85);  // its own token: 0.42
  CHECK(run("rmsnorm_short.L1.accuracy") < 0.8);
  CHECK(run("rmsnorm.L1.steps") <= 130);
  CHECK(run("rmsnorm_short.L1.steps", "nonfinite") == 1);  // never: infinite, not the last step
  CHECK(run("rmsnorm_short_minus_rmsnorm.L1.accuracy") ==
        Approx(run("rmsnorm_short.L1.accuracy") - run("rmsnorm.L1.accuracy")));
  CHECK_FALSE(run.has("rmsnorm_minus_rmsnorm.L1.accuracy"));
}

TEST_CASE("at a learning rate near 0 a layer stays where its seed began, whatever other norms are run") {
  const std::string small = "--depths 1,2 --learning_rate 1e-30 --steps 20 --batch 2 --seeds 2 --norms ";
  const StudyRun run("majority", small + "rmsnorm,none,layernorm"),
      others("majority", small + "layernorm,rmsnorm");
  for (const std::string net : {"rmsnorm.L1", "rmsnorm.L2", "layernorm.L1", "layernorm.L2"}) {
    CAPTURE(net);
    const Tensor accuracy = run.series(net);  // (seeds, evaluations)
    REQUIRE(accuracy.shape() == Shape{2, 3});
    for (int64_t seed = 0; seed < 2; ++seed) {
      CHECK(accuracy.at({seed, 0}) < 0.6);  // its own token: 0.42
      CHECK(accuracy.at({seed, 1}) == accuracy.at({seed, 0}));
      CHECK(accuracy.at({seed, 2}) == accuracy.at({seed, 0}));
    }
    CHECK(run.measured.at(net + ".accuracy") == others.measured.at(net + ".accuracy"));
  }
}

}  // namespace isobar::majority_test
