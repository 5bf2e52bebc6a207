// The defaults of layers.
#include <doctest/doctest.h>

#include "../../nn/lm/lm.h"
#include "../../nn/nn.h"

namespace isobar::defaults_test {

TEST_CASE("layers have the defaults that PyTorch 2.5 documents for the same names") {
  const LayerNormOptions layer;
  CHECK((layer.eps == 1e-5 && layer.elementwise_affine && layer.bias));
  CHECK((GroupNormOptions{}.eps == 1e-5 && GroupNormOptions{}.affine));
  const BatchNormOptions batch;
  CHECK((batch.eps == 1e-5 && batch.momentum == 0.1 && batch.affine && batch.track_running_stats));
  CHECK((RMSNormOptions{}.eps == 1e-5 && RMSNormOptions{}.elementwise_affine));  // Llama's norm_eps
  CHECK(LinearOptions{}.bias);
  CHECK((MultiheadAttentionOptions{}.bias && !MultiheadAttentionOptions{}.causal));
  CHECK((FeedForwardOptions{}.bias && FeedForwardOptions{}.dropout == 0));
  const AttentionOptions attention;
  CHECK((!attention.causal && attention.softcap == 0 && !attention.scale));
  CHECK((!TapeOptions{}.higher_order && !TapeOptions{}.detect_anomaly));
}

TEST_CASE(
    "norms of papers have the papers' defaults; a size of 0 is the usual one, and what is optional is off") {
  CHECK((DyTOptions{}.alpha == 0.5 && DyTOptions{}.bias));  // Zhu et al. 2025, section 5
  CHECK(DyTSqrtDOptions{}.inv_rho == 1);                    // RMSNorm's slope at a root mean square of 1
  CHECK((DerfOptions{}.alpha == 0.5 && DerfOptions{}.bias));
  CHECK(
      (PRMSNormOptions{}.p == 0.0625 && PRMSNormOptions{}.eps == 1e-5));  // Zhang & Sennrich 2019, section 5
  CHECK((NGPTConfig{}.hidden == 0 && LanguageModelConfig{}.hidden == 0 && SwiGLUOptions{}.hidden == 0));
  CHECK((RowGroupNormOptions{}.groups == 0 && NormOptions{}.groups == 0));
  CHECK((NormOptions{}.bias && NormOptions{}.eps == 1e-5 && RowBatchNormOptions{}.bias));
  const GroupedQueryAttentionOptions grouped;
  CHECK((!grouped.qk_norm && grouped.softcap == 0 && !grouped.causal && !grouped.bias));
  CHECK((grouped.n_kv_head == 0 && grouped.rope_base == 1e4));  // Su et al. 2021, section 3.2.2
  CHECK((TransformerBlockOptions{}.dropout == 0 && TransformerBlockOptions{}.branch_scale == 1));
  const Sampling sampling;  // changes no logit
  CHECK((sampling.tokens == 0 && sampling.temperature == 1 && sampling.top_k == 0 && sampling.top_p == 1));
}

}  // namespace isobar::defaults_test
