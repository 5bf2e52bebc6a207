// LanguageModel: the sizes that its sources print, causality, and the initial weights.
#include "../../nn/lm/lm.h"

#include <doctest/doctest.h>

#include "../../nn/nn.h"
#include "../message_of.h"

namespace isobar::language_model_test {

int count_of_type(HasFields& model, const std::string& type) {
  int count = 0;
  for (const NamedModule& part : named_modules(model)) count += part.module->type_name() == type;
  return count;
}

LanguageModelConfig small(const std::string& norm, Positions positions) {
  return {.vocab_size = 11,
          .block_size = 8,
          .n_layer = 2,
          .n_head = 4,
          .n_kv_head = 2,
          .n_embd = 16,
          .positions = positions,
          .norm = norm};
}

TEST_CASE("MiniMind's sizes: 25,829,888 parameters and 17 RMSNorms") {
  // The version that source 003 describes: width 512, 8 layers, 8 heads on 2 key/value heads, 6400 symbols.
  LanguageModel model({.n_kv_head = 2, .rope_base = 1e6}, Rng(1));
  CHECK(parameter_count(model) == 25'829'888);
  CHECK(count_of_type(model, "RMSNorm") == 17);
  CHECK(parameter_count(*model.blocks[0].self_attn) == 655'360);
  CHECK(parameter_count(*model.blocks[0].mlp) == 2'162'688);
  CHECK(parameter_count(model.embed_tokens) == 3'276'800);
}

TEST_CASE("nanoGPT's published CPU setting has 804,096 parameters, 0.80 M without the positions") {
  // 65·128 + 64·128 + 4 (2·128 + 4·128² + 2·4·128²) + 128, tied embeddings, no biases.
  LanguageModel model({.vocab_size = 65,
                       .block_size = 64,
                       .n_layer = 4,
                       .n_head = 4,
                       .n_embd = 128,
                       .positions = Positions::learned,
                       .norm = "layernorm",
                       .norm_options = {.bias = false},
                       .ffn = "gelu"},
                      Rng(1));
  CHECK(parameter_count(model) == 804'096);
  // N(0, 0.02), within five standard errors, 5/√(2n); placement_test.cpp has the blocks' matrices.
  for (const Tensor& weight : {model.embed_tokens.weight, model.embed_positions->weight})
    CHECK(std::abs(moments_of(weight).std / 0.02 - 1) <
          5 / std::sqrt(2.0 * static_cast<double>(weight.numel())));
}

TEST_CASE("SwiGLU's default width is 8/3 of the width, rounded up to a multiple of 64") {
  CHECK(swiglu_hidden(512) == 1408);
  CHECK(swiglu_hidden(128) == 384);
  CHECK(swiglu_hidden(24) == 64);
  CHECK(swiglu_hidden(25) == 128);
}

TEST_CASE("changing symbol t leaves the logits before t unchanged, bit for bit, and moves those from t on") {
  for (const std::string& norm : norm_names()) {
    for (const Positions positions : {Positions::rope, Positions::learned}) {
      CAPTURE(norm);
      LanguageModel model(small(norm, positions), Rng(1));
      eval(model);  // in training BatchNorm's statistics are of all positions, the later ones too
      const std::vector<int64_t> symbols{3, 1, 4, 1, 5, 9, 2, 6};
      const std::vector<float> base = model(tensor<int64_t>({1, 8}, symbols)).to_vector<float>();
      for (size_t t = 0; t < symbols.size(); ++t) {
        std::vector<int64_t> changed = symbols;
        changed[t] = 10;
        const std::vector<float> logits = model(tensor<int64_t>({1, 8}, changed)).to_vector<float>();
        const auto first_difference =
            std::mismatch(base.begin(), base.end(), logits.begin()).first - base.begin();
        CHECK(first_difference / 11 == static_cast<std::ptrdiff_t>(t));
      }
    }
  }
}

TEST_CASE("the embedding's std is init_std unless asked for") {
  LanguageModelConfig config = small("rmsnorm", Positions::rope);
  config.embedding_std = 1;
  config.tie_embeddings = false;
  LanguageModel model(config, Rng(1));
  CHECK(moments_of(model.embed_tokens.weight).std ==
        doctest::Approx(1).epsilon(0.27));  // five standard errors
  CHECK(moments_of(model.lm_head.weight).std == doctest::Approx(0.02).epsilon(0.27).scale(0));
}

TEST_CASE("a model that starts at zero gives every symbol the same chance, and its blocks change nothing") {
  for (const char* ffn : {"swiglu", "relu2"}) {
    LanguageModelConfig config = small("rmsnorm", Positions::rope);
    config.ffn = ffn;
    config.tie_embeddings = false;
    config.zero_init = true;
    LanguageModel model(config, Rng(1));
    const Tensor x = Rng(2).normal({2, 3, config.n_embd});
    for (TransformerBlock& block : model.blocks) CHECK(block(x).to_vector<float>() == x.to_vector<float>());
    for (const float logit : model(zeros({2, 3}, Dtype::i64)).to_vector<float>()) CHECK(logit == 0);
  }
}

TEST_CASE("the least model has one symbol, one place, one channel and no block") {
  LanguageModel model({.vocab_size = 1, .block_size = 1, .n_layer = 0, .n_embd = 1}, Rng(1));
  CHECK(model(zeros({2, 1}, Dtype::i64)).shape() == Shape{2, 1, 1});
}

TEST_CASE("text_loss asks each token once, in windows of the block size and a shorter last one") {
  LanguageModelConfig config = small("rmsnorm", Positions::rope);
  config.block_size = 4;
  LanguageModel model(config, Rng(1));
  const std::vector<int32_t> text = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5};
  const auto window = [&](size_t begin, size_t end) {
    const auto tokens = [&](size_t first, size_t last) {
      return tensor<int32_t>({1, static_cast<int64_t>(last - first)},
                             std::span(text).subspan(first, last - first));
    };
    return model.loss(tokens(begin, end), tokens(begin + 1, end + 1)).item() *
           static_cast<double>(end - begin);
  };
  const TextLoss loss = text_loss(model, text);
  CHECK(loss.tokens == 10);
  CHECK(loss.nats == doctest::Approx(window(0, 4) + window(4, 8) + window(8, 10)));
  CHECK(loss.mean() == doctest::Approx(loss.nats / 10));
  CHECK(message_of([&] { text_loss(model, std::span(text).first(1)); }) ==
        "text_loss: wanted at least two tokens, got 1");
}

TEST_CASE("a configuration asks for no more numbers and tensors than a file has") {
  // By hand: the embedding 10 · 48 and in each of two layers attention of 2 · 48² and three matrices of 48 ·
  // 128.
  LanguageModelConfig config = {.vocab_size = 10, .n_layer = 2, .n_embd = 48};
  const int64_t least = 10 * 48 + 2 * (2 * 48 * 48 + 3 * 48 * 128);
  check_affordable(config, 12, least, "me");
  CHECK(message_of([&] { check_affordable(config, 12, least - 1, "me"); }) ==
        "me: its configuration asks for 2 layers and at least 46560 numbers, its 12 tensors have 46559");
  CHECK_THROWS_AS(check_affordable(config, 11, least, "me"), Error);
  config.ffn = "gelu";  // two matrices of 48 · 192
  check_affordable(config, 12, 10 * 48 + 2 * (2 * 48 * 48 + 2 * 48 * 192), "me");
  CHECK_THROWS_AS(check_affordable(config, 12, 10 * 48 + 2 * (2 * 48 * 48 + 2 * 48 * 192) - 1, "me"), Error);
}

}  // namespace isobar::language_model_test
