// majority as its users meet it: it learns.
#include "study_run.h"

namespace isobar::majority_test {

TEST_CASE("one layer learns which token is the most frequent, and longer vectors learn it sooner") {
  const StudyRun run("majority", "--norms rmsnorm,rmsnorm_short --depths 1 --seeds 1 --steps 130");
  CHECK(run("rmsnorm.L1.accuracy") > 0.85);  // its own token: 0.42
  CHECK(run("rmsnorm_short.L1.accuracy") < 0.8);
  CHECK(run("rmsnorm.L1.steps") <= 130);
  CHECK(run("rmsnorm_short.L1.steps", "nonfinite") == 1);  // never: infinite, not the last step
}

}  // namespace isobar::majority_test
