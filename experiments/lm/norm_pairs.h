// Pairs of nets of the norm comparison: the same seeds, hence the same tokens and the same initial weights.
#pragma once

#include "norm_results.h"

namespace isobar {

// For every size with both nets, over the seeds that both have, each net at its best learning rate:
//   <pair>                  val loss of one minus the other's, in nats
//   <pair>.share_of_gain    the same over what pre.rmsnorm gained on the unigram loss, with the same seed
//   <pair>.perplexity_percent   100 (exp(difference) − 1), of LayerNorm and RMSNorm
// with another norm than RMSNorm, both pre or both post, the speed of learning too:
//   pre.dyt_over_rmsnorm.largest_stable_rate   where both have several rates, over the seeds that each rate has
//   pre.dyt_over_rmsnorm.steps                 until half of what RMSNorm gains in the end, each at its best rate
// and of post.rmsnorm and pre.rmsnorm at each rate that both have:
//   rmsnorm.lr_<rate>.post_minus_pre, rmsnorm.lr_<rate>.post_share_of_pre = gain(post) / gain(pre)
// Prints LayerNorm minus RMSNorm.
void measure_pairs(Run& run, const NormResults& results);

}  // namespace isobar
