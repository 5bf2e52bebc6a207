// warmup: the built program, run small.
#include "study_run.h"

namespace isobar::warmup_test {

const std::string small =
    "--corpus synthetic --n_layer 1 --n_head 2 --n_embd 32 --block_size 16 --batch_size 4 --steps 10 --seeds 2"
    " --eval_iters 1 --init_std 0.18";

TEST_CASE("the last gradient of a pre-norm net falls with depth, that of a post-norm net does not") {
  const StudyRun run("warmup", small + " --depths 2,64");
  const std::string pre = "weight_grad_norm.pre.exponent", post = "weight_grad_norm.post.exponent";
  // Closed forms: √(1 + L/2) to √(1 + 3L/2) for pre-norm; the bounds are half way to the other placement's.
  CHECK(run(pre, "mean") < -0.25);
  CHECK(run(pre, "mean") > -0.75);
  CHECK(run(post, "mean") > -0.25);
  CHECK(run(post, "mean") < 0.25);
}

}  // namespace isobar::warmup_test
