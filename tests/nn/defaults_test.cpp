// The defaults of layers, optimizers and attention are those that PyTorch 2.5 documents for the same names,
// or, for what PyTorch has not or has otherwise, those of the paper or program named.
#include <doctest/doctest.h>

#include "../../nn/lm/lm.h"
#include "../../nn/nn.h"
#include "../../optim/optim.h"

namespace isobar::defaults_test {

TEST_CASE("optimizers have PyTorch's defaults") {
  CHECK(SGDOptions{}.lr == 1e-3);
  CHECK(SGDOptions{}.momentum == 0);
  CHECK_FALSE(SGDOptions{}.nesterov);
  CHECK(SGDOptions{}.weight_decay == 0);
  CHECK(AdamOptions{}.lr == 1e-3);
  CHECK(AdamOptions{}.beta1 == 0.9);
  CHECK(AdamOptions{}.beta2 == 0.999);
  CHECK(AdamOptions{}.eps == 1e-8);
  CHECK(AdamOptions{}.weight_decay == 0);
  CHECK(AdamWOptions{}.lr == 1e-3);
  CHECK(AdamWOptions{}.beta1 == 0.9);
  CHECK(AdamWOptions{}.beta2 == 0.999);
  CHECK(AdamWOptions{}.eps == 1e-8);
  CHECK(AdamWOptions{}.weight_decay == 0.01);
}

TEST_CASE("Muon has the defaults of Keller Jordan's program") {
  CHECK(MuonOptions{}.lr == 0.02);
  CHECK(MuonOptions{}.momentum == 0.95);
  CHECK(MuonOptions{}.nesterov);
  CHECK(MuonOptions{}.weight_decay == 0);
  CHECK(MuonOptions{}.rounds == 5);
}

TEST_CASE("norms have PyTorch's defaults") {
  CHECK(LayerNormOptions{}.eps == 1e-5);
  CHECK(LayerNormOptions{}.elementwise_affine);
  CHECK(LayerNormOptions{}.bias);
  CHECK(GroupNormOptions{}.eps == 1e-5);
  CHECK(GroupNormOptions{}.affine);
  CHECK(BatchNormOptions{}.eps == 1e-5);
  CHECK(BatchNormOptions{}.momentum == 0.1);
  CHECK(BatchNormOptions{}.affine);
  CHECK(BatchNormOptions{}.track_running_stats);
  CHECK(RMSNormOptions{}.eps == 1e-5);  // Llama's norm_eps; PyTorch takes the dtype's epsilon
  CHECK(RMSNormOptions{}.elementwise_affine);
}

TEST_CASE("the norms of papers have the papers' defaults") {
  CHECK(DyTOptions{}.alpha == 0.5);  // Zhu et al. 2025, section 5
  CHECK(DyTOptions{}.bias);
  CHECK(DyTSqrtDOptions{}.inv_rho == 1);  // RMSNorm's slope at a root mean square of 1
  CHECK(DerfOptions{}.alpha == 0.5);
  CHECK(DerfOptions{}.bias);
  CHECK(PRMSNormOptions{}.p == 0.0625);  // Zhang & Sennrich 2019, section 5: 6.25 %
  CHECK(PRMSNormOptions{}.eps == 1e-5);
}

TEST_CASE("layers have PyTorch's defaults") {
  CHECK(LinearOptions{}.bias);
  CHECK(MultiheadAttentionOptions{}.bias);
  CHECK_FALSE(MultiheadAttentionOptions{}.causal);
  CHECK(FeedForwardOptions{}.bias);
  CHECK(FeedForwardOptions{}.dropout == 0);
  CHECK_FALSE(AttentionOptions{}.causal);
  CHECK(AttentionOptions{}.softcap == 0);
  CHECK_FALSE(AttentionOptions{}.scale.has_value());
}

TEST_CASE("drawing the next token changes no logit unless it is asked to") {
  CHECK(Sampling{}.tokens == 0);
  CHECK(Sampling{}.temperature == 1);
  CHECK(Sampling{}.top_k == 0);
  CHECK(Sampling{}.top_p == 1);
}

TEST_CASE("a width of 0 stands for the usual one, and what is optional is off") {
  CHECK(NGPTConfig{}.hidden == 0);
  CHECK(LanguageModelConfig{}.hidden == 0);
  CHECK(SwiGLUOptions{}.hidden == 0);
  CHECK(RowGroupNormOptions{}.groups == 0);
  CHECK(NormOptions{}.groups == 0);
  CHECK(NormOptions{}.bias);
  CHECK(NormOptions{}.eps == 1e-5);
  CHECK_FALSE(GroupedQueryAttentionOptions{}.qk_norm);
  CHECK(GroupedQueryAttentionOptions{}.softcap == 0);
  CHECK_FALSE(GroupedQueryAttentionOptions{}.causal);
  CHECK_FALSE(GroupedQueryAttentionOptions{}.bias);
  CHECK(TransformerBlockOptions{}.dropout == 0);
  CHECK(TransformerBlockOptions{}.branch_scale == 1);
  CHECK_FALSE(TapeOptions{}.higher_order);
  CHECK_FALSE(TapeOptions{}.detect_anomaly);
}

}  // namespace isobar::defaults_test
