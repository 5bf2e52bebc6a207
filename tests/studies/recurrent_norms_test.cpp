// recurrent_norms: the built program.
#include <cmath>

#include "study_run.h"

namespace isobar::recurrent_norms_test {

TEST_CASE(
    "gradients of a plain recurrent net fall by a closed form, and test statistics matter to BatchNorm alone") {
  const StudyRun run("recurrent_norms",
                     "--hidden 16 --steps 3 --seeds 2 --lengths 7,28 --learning_rates 1e-2,1e-3");
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

}  // namespace isobar::recurrent_norms_test
