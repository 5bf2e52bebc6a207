// warmup: the built program, run small.
#include "study_run.h"

namespace isobar::warmup_test {

const std::string small =
    "--corpus synthetic --n_layer 1 --n_head 2 --n_embd 32 --block_size 16 --batch_size 4 --steps 10 --seeds 2"
    " --eval_iters 1 --init_std 0.18";

TEST_CASE("the last gradient of a pre-norm net falls with depth, that of a post-norm net does not") {
  const StudyRun run("warmup", small + " --depths 2,64");
  const std::string pre = "weight_grad_norm.pre.exponent", post = "weight_grad_norm.post.exponent";
  CHECK(run(pre, "n") == 10);
  CHECK(run(pre, "theory") == -0.5);
  CHECK(run(post, "theory") == 0);
  // Closed forms: √(1 + L/2) to √(1 + 3L/2) for pre-norm; the bounds are half way to the other placement's.
  CHECK(run(pre, "mean") < -0.25);
  CHECK(run(pre, "mean") > -0.75);
  CHECK(run(post, "mean") > -0.25);
  CHECK(run(post, "mean") < 0.25);
  CHECK(run.has("weight_grad_norm.pre.L64"));
  for (const std::string placement : {"pre", "post"})
    for (const std::string percent : {"0", "10", "30", "60"}) {
      const std::string key = placement + ".lr_0.01.warmup_" + percent;
      CHECK(run.has(key + ".gain_over_unigram"));
      CHECK(run.has(key + ".share_of_pre"));
    }
  CHECK(run("pre.lr_0.01.warmup_0.share_of_pre", "min") == 1);
  CHECK(run("post.lr_0.01.warmup_0.minus_none.share_of_pre", "max") == 0);
  // A warm-up of 60 % of ten steps changes what is learned.
  CHECK(run("pre.lr_0.01.warmup_60.gain_over_unigram") != run("pre.lr_0.01.warmup_0.gain_over_unigram"));
}

}  // namespace isobar::warmup_test
