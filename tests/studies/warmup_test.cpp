// warmup: the built program, run small.
#include <doctest/doctest.h>

#include "../run.h"

namespace isobar::warmup_test {

const std::string small =
    "--corpus synthetic --n_layer 1 --n_head 2 --n_embd 32 --block_size 16 --batch_size 4 --steps 10 --seeds 2"
    " --eval_iters 1 --init_std 0.18";

TEST_CASE("the last gradient of a pre-norm net falls with depth, that of a post-norm net does not") {
  const auto measured = measured_of("warmup", small + " --depths 2,64");
  const auto &pre = measured.at("weight_grad_norm.pre.exponent"),
             &post = measured.at("weight_grad_norm.post.exponent");
  CHECK(pre.at("n") == 10);
  CHECK(pre.at("theory") == -0.5);
  CHECK(post.at("theory") == 0);
  // Closed forms: √(1 + L/2) to √(1 + 3L/2) for pre-norm; the bounds are half way to the other placement's.
  CHECK(pre.at("mean") < -0.25);
  CHECK(pre.at("mean") > -0.75);
  CHECK(post.at("mean") > -0.25);
  CHECK(post.at("mean") < 0.25);
  check_keys(measured, {"weight_grad_norm.pre.L64"});
  for (const std::string placement : {"pre", "post"})
    for (const std::string percent : {"0", "10", "30", "60"}) {
      const std::string key = placement + ".lr_0.01.warmup_" + percent;
      check_keys(measured, {key + ".gain_over_unigram", key + ".share_of_pre"});
    }
  CHECK(measured.at("pre.lr_0.01.warmup_0.share_of_pre").at("min") == 1);
  CHECK(measured.at("post.lr_0.01.warmup_0.minus_none.share_of_pre").at("max") == 0);
  // A warm-up of 60 % of ten steps changes what is learned.
  CHECK(value_of(measured, "pre.lr_0.01.warmup_60.gain_over_unigram") !=
        value_of(measured, "pre.lr_0.01.warmup_0.gain_over_unigram"));
}

}  // namespace isobar::warmup_test
