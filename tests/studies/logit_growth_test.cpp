// logit_growth: its logits against closed forms, and the built program run small.
#include <doctest/doctest.h>

#include <cmath>

#include "../../data/hdf5_file.h"
#include "../../experiments/lm/watching/attention_logits.h"
#include "../../nn/lm/grouped_query_attention.h"
#include "../run.h"

namespace isobar::logit_growth_test {

using Json = nlohmann::json;
using doctest::Approx;

const std::string tiny =
    " --corpus synthetic --n_layer 2 --n_head 2 --n_kv_head 1 --n_embd 16 --block_size 16 --batch_size 4"
    " --steps 20 --log_interval 8 --eval_iters 2 --seeds 2 --softcap 0.05";

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

TEST_CASE("logit_growth measures the values that decide its claims") {
  const TemporaryFolder folder;
  const Outcome run = ran("logit_growth", tiny + " --out " + folder / "run");
  const Json summary = Json::parse(file_text(folder / "run/summary.json")), measured = summary["measured"];
  const auto median = [&](const char* key) { return value_of(measured, key); };
  for (const char* key : {"none.logit.start", "none.logit.end", "softcap.precap.end", "qk_norm.logit.end"})
    CHECK(median(key) > 0);
  CHECK(median("softcap.precap.end") > 0.05);
  CHECK(median("softcap.capped.highest") <= 0.05 * (1 + 1e-6));
  CHECK(median("qk_norm.logit.bound_violation") < 1e-5);
  CHECK(median("qk_norm.logit.bound.start") == Approx(std::sqrt(8.0)));
  CHECK(median("qk_norm.logit.start") <= std::sqrt(8.0) * (1 + 1e-6));
  CHECK(median("softcap.precap_over_cap.end") == Approx(median("softcap.precap.end") / 0.05));
  CHECK(summary["corpus"] == "synthetic");
  check_keys(measured,
             {"softcap_minus_none.val_loss.share_of_gain", "qk_norm_minus_none.val_loss.share_of_gain"});
  CHECK(median("softcap50.value.x100") == Approx(48.2014).epsilon(1e-5));  // 50 tanh 2
  CHECK(median("softcap50.slope.x100") == Approx(0.070651).epsilon(1e-4));
  CHECK(median("softcap50.largest_gap_to_clip_over_cap") == Approx(0.238406).epsilon(1e-4));

  const Hdf5File file = Hdf5File::open(folder / "run/run.h5");
  CHECK(file.read("/series/step").to_vector<double>() == std::vector<double>{0, 8, 16, 20});
  CHECK(file.read("/series/softcap/logit").shape() == Shape{4, 2});

  // The curves end at the measured figures: [step, least, median, most].
  const Json curves = summary["plots"][0]["curves"];
  REQUIRE(curves.size() == 6);
  for (const auto& [i, key] : {std::pair{0, "none.logit.end"},
                               {1, "softcap.precap.end"},
                               {2, "softcap.capped.end"},
                               {3, "qk_norm.logit.end"},
                               {5, "qk_norm.logit.bound.end"}}) {
    const char* wanted = key;
    CAPTURE(wanted);
    CHECK(curves[static_cast<size_t>(i)]["points"].back() ==
          Json({20, measured[key]["min"], measured[key]["median"], measured[key]["max"]}));
  }
  CHECK(curves[4]["points"].back()[2] == 0.05);
  CHECK(curves[5]["role"] == "theory");
}

}  // namespace isobar::logit_growth_test
