// centering: the built program. What it measures, LayerNorm's centring in the weights:
// fold_centring_test.cpp.
#include <doctest/doctest.h>

#include <cmath>

#include "../run.h"

namespace isobar::centering_test {

TEST_CASE("centering publishes its keys") {
  const std::string small =
      "--corpus synthetic --n_layer 1 --n_head 2 --n_embd 16 --block_size 16 --batch_size 4 --steps 8 --seeds 2"
      " --eval_iters 1";
  const auto measured = measured_of("centering", small);
  for (const std::string net : {"layernorm", "rmsnorm"})
    for (int quarter = 0; quarter <= 4; ++quarter) {
      const auto& share = measured.at(net + ".quarter_" + std::to_string(quarter) + ".along_one");
      // Of random rows 1/√16; eight steps move it little. A sum in the place of a mean, or the cosine's
      // square, is four times that, or a quarter.
      CHECK(share.at("theory") == 0.25);
      CHECK(share.at("min") > 0.125);
      CHECK(share.at("max") < 0.5);
    }
  CHECK(measured.at("layernorm.folded.relative_difference").at("max") < 1e-5);
  CHECK(measured.at("layernorm.folded.relative_difference_f64").at("max") < 1e-12);
  CHECK(measured.at("layernorm.unfolded.relative_difference").at("min") > 1e-3);
  CHECK(measured.contains("layernorm.unfolded.loss_share_of_gain"));
  CHECK_FALSE(measured.contains("rmsnorm.folded.relative_difference"));
  const auto& start = measured.at("start.d_times_square_share");
  CHECK(start.at("n") == 200);
  CHECK(std::abs(start.at("mean").get<double>() - 1) < 4 * start.at("sd").get<double>() / std::sqrt(200));
}

}  // namespace isobar::centering_test
