// centering: LayerNorm's centring folded into weights, and the built program.
#include <doctest/doctest.h>

#include "../nn/fold_centring.h"
#include "../nn/model.h"
#include "built_study.h"

using namespace isobar;
using Json = nlohmann::json;

namespace {

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

Json run_centering(const std::string& arguments) { return summary_of("centering", arguments); }

}  // namespace

TEST_CASE("RMSNorm gives LayerNorm's outputs where its centring is folded into the weights, and only there") {
  for (const char* ffn : {"swiglu", "gelu"})
    for (const Positions positions : {Positions::rope, Positions::learned})
      for (const bool bias : {false, true}) {
        CAPTURE(ffn);
        CAPTURE(bias);
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
}

TEST_CASE("centering publishes its keys, the same for any number of threads") {
  const std::string small =
      "--corpus synthetic --n_layer 1 --n_head 2 --n_embd 16 --block_size 16 --batch_size 4 --steps 8 --seeds 2"
      " --eval_iters 1";
  const Json one = run_centering(small + " --threads 1"), two = run_centering(small + " --threads 2");
  const Json& measured = one.at("measured");
  CHECK(measured == two.at("measured"));
  for (const std::string net : {"layernorm", "rmsnorm"})
    for (int quarter = 0; quarter <= 4; ++quarter) {
      const Json& share = measured.at(net + ".quarter_" + std::to_string(quarter) + ".along_one");
      CHECK(share.at("theory") == 0.25);
      CHECK(share.at("min") > 0);
      CHECK(share.at("max") < 1);
    }
  CHECK(measured.at("layernorm.folded.relative_difference").at("max") < 1e-5);
  CHECK(measured.at("layernorm.folded.relative_difference_f64").at("max") < 1e-12);
  CHECK(measured.at("layernorm.unfolded.relative_difference").at("min") > 1e-3);
  CHECK(measured.contains("layernorm.unfolded.loss_share_of_gain"));
  CHECK_FALSE(measured.contains("rmsnorm.folded.relative_difference"));
  CHECK(measured.at("start.d_times_square_share").at("n") == 200);
}

TEST_CASE("centering exits with 2 and one line where a flag has no meaning") {
  check_refuses("centering",
                {"--steps 3", "--seeds 0", "--n_embd 18", "--learning_rate -1", "--corpus no_such_file"});
}
