// logit_growth: its logits against closed forms, and the built program run small.
#include <cmath>

#include "../../experiments/lm/watching/attention_logits.h"
#include "../../nn/lm/grouped_query_attention.h"
#include "study_run.h"

namespace isobar::logit_growth_test {

using doctest::Approx;

// A model whose keys are its queries: with QK-norm each place's logit with itself is |q|²/√D = √D.
LanguageModel mirrored(bool qk_norm, double cap) {
  LanguageModel model({.vocab_size = 7,
                       .block_size = 6,
                       .n_layer = 2,
                       .n_head = 2,
                       .n_embd = 16,
                       .qk_norm = qk_norm,
                       .softcap = cap,
                       .init_std = 0.3},
                      Rng(1));
  for (TransformerBlock& block : model.blocks) {
    auto& attention = dynamic_cast<GroupedQueryAttention&>(*block.self_attn);
    assign(attention.k_proj.weight, attention.q_proj.weight);
  }
  return model;
}

TEST_CASE("logits of equal queries and keys reach the bound of QK-norm, and a cap bends them") {
  const Tensor symbols = Rng(2).integers({3, 6}, 7);
  const double root = std::sqrt(8.0);
  for (const double cap : {0.0, 2.0}) {
    CAPTURE(cap);
    LanguageModel model = mirrored(true, cap);
    for (const LogitPeaks& peaks : logit_peaks(model, symbols)) {
      CHECK(peaks.logit == Approx(root).epsilon(1e-4));  // eps of the RMSNorm takes a little
      CHECK(peaks.bound == Approx(root).epsilon(1e-12));
      CHECK(peaks.logit <= peaks.bound * (1 + 1e-6));
      CHECK(peaks.capped == Approx(cap > 0 ? cap * std::tanh(peaks.logit / cap) : peaks.logit).epsilon(1e-6));
      CHECK(peaks.rebuild_error < 1e-5);
    }
  }
}

TEST_CASE("without QK-norm logits have no bound and fall as the square of the projections") {
  const Tensor symbols = Rng(2).integers({3, 6}, 7);
  LanguageModel model = mirrored(false, 0);
  auto& attention = dynamic_cast<GroupedQueryAttention&>(*model.blocks[0].self_attn);
  const double before = logit_peaks(model, symbols)[0].logit;
  for (Linear* projection : {&attention.q_proj, &attention.k_proj})
    assign(projection->weight, projection->weight.detach() * 0.5);
  const LogitPeaks after = logit_peaks(model, symbols)[0];
  CHECK(after.logit == Approx(before / 4).epsilon(1e-5));
  CHECK(std::isinf(after.bound));
  CHECK(after.capped == after.logit);
}

TEST_CASE("logits of attention that is not causal are refused") {
  LanguageModel model = mirrored(false, 0);
  model.blocks[1].self_attn = std::make_unique<GroupedQueryAttention>(16, 2, Rng(1));
  CHECK_THROWS_WITH_AS(logit_peaks(model, zeros({1, 6}, Dtype::i64)), "logit_peaks: wanted causal attention",
                       Error);
}

TEST_CASE("logit_growth's caps and bounds are the closed forms") {
  const StudyRun run("logit_growth", "--tiny");
  CHECK(run("qk_norm.logit.bound_violation") < 1e-5);
  run.check_medians({{"softcap50.value.x100", 48.2014, 1e-5},  // 50 tanh 2
                     {"softcap50.slope.x100", 0.070651, 1e-4},
                     {"softcap50.largest_gap_to_clip_over_cap", 0.238406, 1e-4}});
}

}  // namespace isobar::logit_growth_test
