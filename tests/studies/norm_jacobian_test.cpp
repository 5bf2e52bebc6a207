// norm_jacobian as its users meet it.
#include <doctest/doctest.h>

#include "../../experiments/studies/norm_jacobian/fit.h"
#include "study_run.h"

namespace isobar::norm_jacobian_test {

using namespace isobar::jacobian;

TEST_CASE("for normal inputs E[y|x] errs as an independent computation says") {
  // Errors at d = 512 as a referee computed them with NumPy: E[y|x] and the best DyISRU 9.7041e-4, the best
  // DyT
  // 9.7104e-4, y = x 9.763e-4. Five digits, hence half a unit of the last.
  const Population normal = normal_population(512);
  CHECK(std::abs(normal.best_mse() - 9.7041e-4) < 0.5e-8);
  CHECK(std::abs(best_fit(normal, curves[1], false).mse - 9.7041e-4) < 0.5e-8);
  CHECK(std::abs(best_fit(normal, curves[0], false).mse - 9.7104e-4) < 0.5e-8);
  CHECK(std::abs(identity_mse(normal, false) - 9.763e-4) < 0.5e-7);
}

TEST_CASE("norm_jacobian's measurements are the closed forms") {
  const StudyRun run("norm_jacobian", "--tiny");
  run.check_medians({
      {"jacobian.rmsnorm.d64.rank", 63, 1e-12},  // d − 1 and d − 2, and one more with eps
      {"jacobian.layernorm.d64.rank", 62, 1e-12},
      {"jacobian.rmsnorm_eps.d512.rank", 512, 1e-12},
      {"jacobian.layernorm_eps.d512.rank", 511, 1e-12},
      {"jacobian.rmsnorm_eps.d512.null_with_eps", 1e-5 / 4, 0.3},  // E x² = 2.5
      {"bound.rmsnorm.d512", 22.62741699, 1e-8},                   // √512 and √511, less what eps takes
      {"bound.layernorm.d512", 22.60530911, 1e-8},
      {"slope_at_0.d512.dyt_default", 0.5, 1e-12},
      {"slope_at_0.d512.dyt_sqrtd_default", 1, 1e-12},
      {"dyt_as_dyt_sqrtd.d512.alpha", 0.0441941738 / 1.7, 1e-9},
      {"expansion.across.d512.s1.remainder", std::sqrt(2) - 1, 1e-12},
      {"clip.isru.largest_gap", 0.292893, 1e-5},                    // 1 − 1/√2
      {"clip.tanh.largest_gap", 0.238406, 1e-5},                    // 1 − tanh 1
      {"sign.isru.gap.k10", 0.0049628, 1e-4},                       // 1 − 10/√101
      {"chain.sign.mse", 2 - 2 * std::sqrt(2 / 3.14159265), 0.02},  // 65,536 numbers
      // For normal inputs the sum of 511 squares is about 511, and both curves are nearly straight.
      {"fit.normal.dyisru.p", 511, 0.1},
      {"fit.normal.dyisru_over_dyt", 1, 0.01},
      {"fit.outlier_channel.dyisru_over_best", 1.41, 0.005},  // the referee's 1.41
  });
  for (const char* key : {"jacobian.rmsnorm.d512.max_abs_diff", "jacobian.rmsnorm.d512.null",
                          "exact_per_element.d512.max_abs_diff", "ode.dyt_sqrtd.d512.slope_residual",
                          "expansion.along.d512.s1.remainder", "chain.sign.error"})
    CHECK_MESSAGE(run(key) < 1e-13, key);
  CHECK(run("ode.dyisru.d512.c511.integrated_diff") < 1e-8);
  CHECK(run("second.rmsnorm.d64.finite_difference_diff") < 1e-6);
  // No function of one element is better than E[y|x], which DyISRU reaches for normal inputs.
  for (const char* inputs : {"normal", "outlier_channel", "constant_outlier"})
    for (const char* curve : {"dyisru", "dyt", "identity"})
      CHECK(run(fmt::format("fit.{}.{}_over_best", inputs, curve)) >= 1 - 1e-12);
}

}  // namespace isobar::norm_jacobian_test
