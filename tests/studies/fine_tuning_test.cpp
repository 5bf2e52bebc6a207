// fine_tuning: the built program, run small.
#include <doctest/doctest.h>

#include "../run.h"

namespace isobar::fine_tuning_test {

const std::string small =
    "--n_layer 1 --n_head 2 --n_embd 16 --block_size 16 --batch_size 4 --steps 40 --finetuning_steps 20 --seeds 2"
    " --eval_iters 2";

TEST_CASE("fine_tuning publishes its keys") {
  const auto measured = measured_of("fine_tuning", small);
  for (const std::string text : {"text.", "synthetic."}) {
    CHECK(measured.contains(text + "pre.rmsnorm.pretrained.gain"));
    CHECK_FALSE(measured.contains(text + "pre.rmsnorm.finetuned.minus_rmsnorm.share_of_gain"));
    for (const std::string net : {"skipinit.none", "rezero.none", "fixup.none"}) {
      CHECK(measured.at(text + net + ".pretrained.minus_rmsnorm.share_of_gain").at("n") == 2);
      CHECK(measured.at(text + net + ".finetuned.minus_rmsnorm.share_of_gain").at("n") == 2);
      CHECK(measured.contains(text + net + ".finetuned_minus_pretrained.share_of_gain"));
    }
  }
}

TEST_CASE("a net beside itself is neither better nor worse, before and after fine-tuning") {
  const auto measured = measured_of("fine_tuning", small + " --nets pre.rmsnorm");
  for (const std::string phase : {"pretrained", "finetuned"}) {
    const auto& share = measured.at("text.pre.rmsnorm." + phase + ".minus_rmsnorm.share_of_gain");
    CHECK(share.at("min") == 0);
    CHECK(share.at("max") == 0);
  }
}

}  // namespace isobar::fine_tuning_test
