// recurrent_norms: the built program.
#include <cmath>

#include "study_run.h"

namespace isobar::recurrent_norms_test {

TEST_CASE("recurrent_norms publishes its keys") {
  const std::string small = " --hidden 16 --steps 3 --seeds 2 --lengths 7,28 --learning_rates 1e-2,1e-3";
  const StudyRun run("recurrent_norms", small);
  for (const std::string norm : {"none", "batchnorm", "layernorm", "rmsnorm"})
    for (const std::string name :
         {"accuracy", "accuracy_with_own_statistics", "output_grad_norm.first_over_last",
          "output_grad_norm_at_the_end.first_over_last"}) {
      CHECK(run.has("T7." + norm + "." + name));
      CHECK(run.has("T28." + norm + "." + name));
      CHECK(run.has("T28." + norm + ".accuracy_minus_none") == (norm != "none"));
    }
  // Without a norm the gradient falls by about √3 a step; a state of 16 has a gain that differs by a tenth
  // from 1/√3.
  CHECK(run("T7.none.output_grad_norm.first_over_last", "max") < std::pow(1.1 / std::sqrt(3), 6));
  CHECK(run("T28.none.output_grad_norm.first_over_last", "max") < std::pow(1.1 / std::sqrt(3), 27));
  // Statistics of the test images matter to BatchNorm alone.
  for (const std::string norm : {"none", "layernorm", "rmsnorm"})
    CHECK(run.measured.at("T7." + norm + ".accuracy") ==
          run.measured.at("T7." + norm + ".accuracy_with_own_statistics"));
  CHECK(run.measured.at("T7.batchnorm.accuracy") !=
        run.measured.at("T7.batchnorm.accuracy_with_own_statistics"));
}

TEST_CASE("the plain net learns digits that it reads in rows") {
  const StudyRun run("recurrent_norms", "--norms none --seeds 1 --learning_rates 3e-3 --steps 150");
  CHECK(run("T28.none.accuracy") > 0.4);  // four times chance
}

}  // namespace isobar::recurrent_norms_test
