// rank_collapse as its users meet it: its values against closed forms, and what it refuses.
#include <doctest/doctest.h>

#include <cmath>

#include "../run.h"

namespace isobar::rank_collapse_test {

TEST_CASE("without skips positions become equal at a cubic rate, with skips they do not") {
  const auto measured = measured_of("rank_collapse", "--d_model 32 --length 8 --depth 6 --seeds 10");
  const auto median = [&](const std::string& key) { return value_of(measured, key); };
  for (const std::string part : {"", ".mlp"})
    for (const std::string norm : {"", ".norm"}) {
      CAPTURE(part + norm);
      CHECK(median("attention" + part + norm + ".L6.residual") < 1e-14);
      CHECK(median("attention" + part + ".skip" + norm + ".L6.residual") > 0.5);
      CHECK_FALSE(measured.contains("attention" + part + ".skip" + norm + ".order"));
    }
  // Ten seeds of this size lie between 2.4 and 3.3.
  for (const std::string kind : {"attention", "attention.norm", "attention.mlp.norm"})
    CHECK(std::abs(median(kind + ".order") - 3) < 0.5);
  CHECK(measured.at("attention.order").at("theory") == 3);
  // Without norms the first block's gradient is a product of five small factors.
  CHECK(median("attention.mlp.weight_grad_norm.first_over_last") <
        1e-3 * median("attention.mlp.norm.weight_grad_norm.first_over_last"));
}

TEST_CASE("r of one block with a skip lies just below that of independent positions") {
  // A row of T independent normal positions: E |x − mean|² / E |x|² = 1 − 1/T. One block of attention with a
  // skip adds little at initial weights: variance 1/14 of the stream's (transformer_stack/measure.h).
  for (const int length : {2, 4, 16}) {
    CAPTURE(length);
    const std::string flags = "--kinds attention.skip --depth 1 --seeds 8 --batch 16 --length ";
    const auto measured = measured_of("rank_collapse", flags + std::to_string(length));
    const double r = measured.at("attention.skip.L1.residual").at("median");
    CHECK(r < std::sqrt(1 - 1.0 / length));
    CHECK(r > std::sqrt(1 - 1.0 / length) - 0.1);
  }
}

TEST_CASE("rank_collapse's only expectation holds") {
  const auto own = summary_of("rank_collapse", "--seeds 3");
  CHECK(own.at("expectations").size() == 1);
  CHECK(own.at("expectations")[0].at("ok") == true);
}

}  // namespace isobar::rank_collapse_test
