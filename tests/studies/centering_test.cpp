// centering: LayerNorm's centring folded into the weights of a model.
#include <doctest/doctest.h>

#include "../../experiments/lm/fold_centring.h"
#include "../../nn/model.h"

namespace isobar::centering_test {

// All parameters, gains and biases too, are drawn: what starts at 1 or 0 would hide mistakes.
LanguageModel random_model(const std::string& ffn, Positions positions, bool bias) {
  LanguageModel model({.vocab_size = 7,
                       .block_size = 6,
                       .n_layer = 2,
                       .n_head = 2,
                       .n_embd = 16,
                       .positions = positions,
                       .norm = "layernorm",
                       .norm_options = {.bias = bias},
                       .ffn = ffn,
                       .bias = bias,
                       .tie_embeddings = false},
                      Rng(1));
  for (NamedTensor p : named_parameters(model))
    assign(p.tensor, Rng(2).split(p.name).normal(p.tensor.shape(), 0.3));
  convert(model, Dtype::f64);
  return model;
}

double difference(LanguageModel& a, LanguageModel& b) {
  const Tensor tokens = Rng(3).integers({3, 6}, 7);
  return max(abs(a(tokens) - b(tokens))).item();
}

TEST_CASE("RMSNorm gives LayerNorm's outputs where its centring is folded into the weights, and only there") {
  for (const char* ffn : {"swiglu", "gelu"})
    for (const Positions positions : {Positions::rope, Positions::learned})
      for (const bool bias : {false, true}) {
        INFO("ffn ", ffn, ", bias ", bias);
        LanguageModel trained = random_model(ffn, positions, bias);
        LanguageModel swapped = without_centring(trained);
        CHECK(difference(swapped, trained) > 0.01);
        fold_centring(swapped);
        CHECK(difference(swapped, trained) < 1e-12);
        // LayerNorm itself does not see what was taken away.
        LanguageModel folded = random_model(ffn, positions, bias);
        fold_centring(folded);
        CHECK(difference(folded, trained) < 1e-12);
      }
}

TEST_CASE("folding refuses models that it would change") {
  LanguageModel tied({.vocab_size = 7, .n_layer = 1, .n_head = 2, .n_embd = 16, .norm = "layernorm"}, Rng(1));
  CHECK_THROWS_WITH(fold_centring(tied), doctest::Contains("an output matrix of its own"));
  LanguageModel rms({.vocab_size = 7, .n_layer = 1, .n_head = 2, .n_embd = 16}, Rng(1));
  CHECK_THROWS_WITH(without_centring(rms), doctest::Contains("got norm rmsnorm"));
  LanguageModel post({.vocab_size = 7,
                      .n_layer = 1,
                      .n_head = 2,
                      .n_embd = 16,
                      .norm = "layernorm",
                      .placement = Placement::post},
                     Rng(1));
  CHECK_THROWS_WITH(without_centring(post), doctest::Contains("pre-norm"));
  post.config.tie_embeddings = false;
  CHECK_THROWS_WITH(fold_centring(post), doctest::Contains("wanted pre-norm"));
}

}  // namespace isobar::centering_test
