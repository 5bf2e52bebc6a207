// rank_collapse as its users meet it: its values against closed forms.
#include <cmath>

#include "study_run.h"

namespace isobar::rank_collapse_test {

TEST_CASE("without skips positions become equal at a cubic rate, with skips they do not") {
  const StudyRun run("rank_collapse", "--d_model 32 --length 8 --depth 6 --seeds 10");
  for (const std::string part : {"", ".mlp"})
    for (const std::string norm : {"", ".norm"}) {
      CAPTURE(part + norm);
      CHECK(run("attention" + part + norm + ".L6.residual") < 1e-14);
      CHECK(run("attention" + part + ".skip" + norm + ".L6.residual") > 0.5);
      CHECK_FALSE(run.has("attention" + part + ".skip" + norm + ".order"));
    }
  // Ten seeds of this size lie between 2.4 and 3.3.
  for (const std::string kind : {"attention", "attention.norm", "attention.mlp.norm"})
    CHECK(std::abs(run(kind + ".order") - 3) < 0.5);
  CHECK(run("attention.order", "theory") == 3);
  // Without norms the first block's gradient is a product of five small factors.
  CHECK(run("attention.mlp.weight_grad_norm.first_over_last") <
        1e-3 * run("attention.mlp.norm.weight_grad_norm.first_over_last"));
}

TEST_CASE("r of one block with a skip lies just below that of independent positions") {
  // A row of T independent normal positions: E |x − mean|² / E |x|² = 1 − 1/T. One block of attention with a
  // skip adds little at initial weights: variance 1/14 of the stream's (studies/transformer_stack/measure.h).
  for (const int length : {2, 4, 16}) {
    CAPTURE(length);
    const std::string flags = "--kinds attention.skip --depth 1 --seeds 8 --batch 16 --length ";
    const double r = StudyRun("rank_collapse", flags + std::to_string(length))("attention.skip.L1.residual");
    CHECK(r < std::sqrt(1 - 1.0 / length));
    CHECK(r > std::sqrt(1 - 1.0 / length) - 0.1);
  }
}

}  // namespace isobar::rank_collapse_test
