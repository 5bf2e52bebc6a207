// fine_tuning: the built program, run small.
#include <doctest/doctest.h>

#include "../run.h"

namespace isobar::fine_tuning_test {

TEST_CASE("fine_tuning publishes its keys, and a net beside itself is neither better nor worse") {
  const auto measured =
      measured_of("fine_tuning",
                  "--nets skipinit.none,rezero.none,fixup.none,pre.rmsnorm --n_layer 1 --n_head 2 --n_embd 16"
                  " --block_size 16 --batch_size 4 --steps 10 --finetuning_steps 5 --seeds 2 --eval_iters 2");
  for (const std::string text : {"text.", "synthetic."})
    for (const std::string phase : {".pretrained", ".finetuned"}) {
      const auto& itself = measured.at(text + "pre.rmsnorm" + phase + ".minus_rmsnorm.share_of_gain");
      CHECK(itself.at("min") == 0);
      CHECK(itself.at("max") == 0);
      check_keys(measured, {text + "pre.rmsnorm.pretrained.gain"});
      for (const std::string net : {"skipinit.none", "rezero.none", "fixup.none"}) {
        CHECK(measured.at(text + net + phase + ".minus_rmsnorm.share_of_gain").at("n") == 2);
        check_keys(measured, {text + net + ".finetuned_minus_pretrained.share_of_gain"});
      }
    }
}

}  // namespace isobar::fine_tuning_test
