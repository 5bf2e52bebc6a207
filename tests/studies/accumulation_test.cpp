// Steps larger than memory: gradient accumulation against one large batch, and train_lm's flags for it.
#include "../../autograd/check/bad_op.h"
#include "../../experiments/lm/training/train.h"
#include "../../nn/nn.h"
#include "../message_of.h"
#include "study_run.h"

namespace isobar::accumulation_test {

Batch batch_of(int64_t rows) { return {Rng(2).integers({rows, 8}, 11), Rng(3).integers({rows, 8}, 11)}; }

LanguageModel small_model(double dropout = 0) {
  return LanguageModel(
      {.vocab_size = 11, .block_size = 8, .n_layer = 2, .n_head = 2, .n_embd = 16, .dropout = dropout},
      Rng(1));
}

std::vector<std::vector<double>> taken_gradients(Module& model) {
  std::vector<std::vector<double>> all;
  for (const Tensor& parameter : parameters(model)) {
    all.push_back(parameter.grad().to_vector<double>());
    parameter.clear_grad();
  }
  return all;
}

const std::string tiny =
    " --corpus " ISOBAR_SOURCE_DIR
    "/README.md --n_layer 3 --n_head 2 --n_kv_head 1 --n_embd 32 --block_size 32"
    " --max_iters 4 --warmup_iters 2 --eval_interval 4 --eval_iters 1 --log_interval 5 --threads 1";

StudyRun train_tiny(const std::string& flags) { return StudyRun("train_lm", tiny + " " + flags); }

TEST_CASE("pieces of a batch leave the gradients and the loss of the whole, but for rounding") {
  LanguageModel model = small_model();
  convert(model, Dtype::f64);
  const Gradients whole = gradients_of(model, batch_of(12), Rng(4));
  const auto expected = taken_gradients(model);
  for (const int64_t pieces : {2, 3, 12}) {
    CAPTURE(pieces);
    const Gradients parts = gradients_of(model, batch_of(12), Rng(4), {.accumulation_steps = pieces});
    CHECK(parts.loss == doctest::Approx(whole.loss).epsilon(1e-14));
    CHECK(parts.norm == doctest::Approx(whole.norm).epsilon(1e-12));
    const auto gradients = taken_gradients(model);
    for (size_t p = 0; p < expected.size(); ++p) {
      double largest = 0, apart = 0;
      for (size_t i = 0; i < expected[p].size(); ++i) {
        largest = std::max(largest, std::abs(expected[p][i]));
        apart = std::max(apart, std::abs(gradients[p][i] - expected[p][i]));
      }
      // A hundred terms in another order at 10⁻¹⁶ each.
      CHECK(apart <= 1e-13 * largest);
    }
  }
}

TEST_CASE("each piece draws dropout masks of its own, the same ones again for the same key") {
  // Each on a model of its own: a training may not draw with a key twice.
  const auto loss = [](const Batch& batch, const Rng& rng, int64_t pieces) {
    LanguageModel model = small_model(0.5);
    return gradients_of(model, batch, rng, {.accumulation_steps = pieces}).loss;
  };
  // The same rows twice: equal masks would give the loss of one half.
  const Batch half = batch_of(3);
  const Batch twice{concat({half.x, half.x}, 0), concat({half.y, half.y}, 0)};
  const double both = loss(twice, Rng(4), 2);
  CHECK(both == loss(twice, Rng(4), 2));
  CHECK(both != loss(half, Rng(4).split(0), 1));
  CHECK(both != loss(half, Rng(4).split(1), 1));
}

TEST_CASE("a batch that cannot be cut into equal pieces is refused, and bad numbers in any piece are named") {
  LanguageModel model(
      {.vocab_size = 11, .block_size = 8, .n_layer = 1, .n_head = 2, .n_embd = 16, .tie_embeddings = false},
      Rng(1));
  CHECK(message_of([&] { gradients_of(model, batch_of(4), Rng(1), {.accumulation_steps = 3}); }) ==
        "gradients_of: wanted 3 equal pieces of a batch, got 4 rows");
  // Symbol 10 is in the last piece alone, and its row of the embedding is infinite.
  Batch batch{zeros({4, 8}, Dtype::i64), zeros({4, 8}, Dtype::i64)};
  raw::write<int64_t>(batch.x)[31] = 10;
  Tensor& weight = model.embed_tokens.weight;
  raw::write<float>(weight)[10 * 16] = INFINITY;
  const TapeTrace trace;
  CHECK_FALSE(gradients_of(model, batch, Rng(1), {.accumulation_steps = 4}).finite());
  const std::optional<BadOp> bad = first_bad_op(trace);
  REQUIRE(bad.has_value());
  CHECK(bad->place() == "forward of embedding in embed_tokens");
  CHECK(bad->tape == 3);
  CHECK(bad->number == 0);  // within its piece
}

TEST_CASE("train_lm with 6 batches of 2 a step trains on the tokens, and to the losses, of batches of 12") {
  const StudyRun whole = train_tiny("--batch_size 12"),
                 parts = train_tiny("--batch_size 2 --gradient_accumulation_steps 6");
  const Tensor wanted = whole.series("loss"), got = parts.series("loss");
  REQUIRE(wanted.shape() == Shape{4});
  // f32 sums in another order, and AdamW's first steps divide by the root of small gradients' squares.
  for (int64_t i = 0; i < 4; ++i) CHECK(got.at({i}) == doctest::Approx(wanted.at({i})).epsilon(1e-4));
  CHECK(parts.summary["timing"]["peak_allocated_mib"] <
        0.7 * whole.summary["timing"]["peak_allocated_mib"].get<double>());
}

}  // namespace isobar::accumulation_test
