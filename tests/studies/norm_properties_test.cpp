// norm_properties as its users meet it.
#include <cmath>

#include "study_run.h"

namespace isobar::norm_properties_test {

TEST_CASE("norm_properties' measurements are the closed forms") {
  const StudyRun run("norm_properties", "--seeds 2");
  run.check_medians({
      // √in. The variance is over 32 rows of χ² with `in` degrees of freedom: the std is uncertain by
      // 1/√(64 in), 1.1 % for 128, and by 1/√(2 in out) more, below 0.4 %.
      {"product.std.128_to_512", std::sqrt(128), 0.05},
      {"product.std.512_to_128", std::sqrt(512), 0.05},
      {"product.std.2048_to_512", std::sqrt(2048), 0.05},
      // BatchNorm's error over 4096 channels, whose mean square has a std of about √(2/4096): half of
      // that, and room for the heavy tails of batches of two. √(2 − 2 E s), E s by Python's math.lgamma.
      {"batch.batchnorm.error.b2", 0.93361, 0.05},
      {"batch.batchnorm.error.b8", 0.44113, 0.05},
      {"batch.batchnorm.error.b32", 0.21750, 0.05},
      // Over 64 rows each uncertain by 0.019.
      {"skew.layernorm_cosine.mean", std::sqrt(0.5), 0.02},
      {"rescale.example.population_std_error", 0.3595, 1e-3},
      {"zero.rmsnorm.gradient_with_eps", 1000, 1e-5},  // 1/√1e-6
      {"information.doubled.change_with_eps_in_f32", 0.375e-5, 0.1},
      // 0.3265/0.3408^1.5 and (2 Φ(0.3989) − 1)/½; of 2 × 64 rows of 512, uncertain by 0.01.
      {"symmetry.skewness.before", 1.641, 0.05},
      {"symmetry.imbalance.after_over_before", 0.6201, 0.1},
      // normalization_comparison.py: 1000 × 512 numbers, so that a mean is uncertain by 5/√512000.
      {"script.comparison.rmsnorm.mean", 2 / std::sqrt(29), 0.03},
      {"script.comparison.rmsnorm.std", 5 / std::sqrt(29), 0.01},
      {"script.explained.rmsnorm.rms", 1, 5e-5},
  });
  CHECK(run("torch.minimind_block.error") <= 1e-13);
}

}  // namespace isobar::norm_properties_test
