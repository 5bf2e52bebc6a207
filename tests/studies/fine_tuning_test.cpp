// fine_tuning: the built program, run small.
#include "study_run.h"

namespace isobar::fine_tuning_test {

TEST_CASE("fine_tuning publishes its keys, and a net beside itself is neither better nor worse") {
  const StudyRun run(
      "fine_tuning",
      "--nets skipinit.none,rezero.none,fixup.none,pre.rmsnorm --n_layer 1 --n_head 2 --n_embd 16"
      " --block_size 16 --batch_size 4 --steps 10 --finetuning_steps 5 --seeds 2 --eval_iters 2");
  for (const std::string text : {"text.", "synthetic."})
    for (const std::string phase : {".pretrained", ".finetuned"}) {
      const std::string itself = text + "pre.rmsnorm" + phase + ".minus_rmsnorm.share_of_gain";
      CHECK(run(itself, "min") == 0);
      CHECK(run(itself, "max") == 0);
      CHECK(run.has(text + "pre.rmsnorm.pretrained.gain"));
      for (const std::string net : {"skipinit.none", "rezero.none", "fixup.none"}) {
        CHECK(run(text + net + phase + ".minus_rmsnorm.share_of_gain", "n") == 2);
        CHECK(run.has(text + net + ".finetuned_minus_pretrained.share_of_gain"));
      }
    }
}

}  // namespace isobar::fine_tuning_test
