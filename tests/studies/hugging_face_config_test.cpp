// The config.json of Hugging Face's layouts: the kept files (tests/fixtures/hugging_face.py) are what we
// export, and what our model cannot follow is refused.
#include "../../experiments/lm/checkpoints/init_from.h"

#include <doctest/doctest.h>

#include "../message_of.h"
#include "../nn/tiny_hugging_face.h"
#include "../run.h"

namespace isobar::hugging_face_config_test {

Json kept_config(HuggingFaceLayout layout) {
  return Json::parse(file_text(tiny_path(layout) + ".config.json"));
}

TEST_CASE("a configuration is exported as the kept config.json, and imported as the model of its file") {
  for (const HuggingFaceLayout layout : layouts) {
    CHECK(hugging_face_config(tiny_config(layout), layout) == kept_config(layout));
    const LmConfig config = config_from_hugging_face(kept_config(layout), "config");
    const auto tensors = read_safetensors(tiny_path(layout) + ".safetensors").tensors;
    LanguageModel model = model_from_hugging_face(config.model(config.vocab_size), layout, tensors, "x"),
                  same = model_from_hugging_face(tiny_config(layout), layout, tensors, "x");
    const Tensor symbols = Rng(3).integers({2, 8}, 13);
    CHECK(model(symbols).to_vector<float>() == same(symbols).to_vector<float>());
  }
}

TEST_CASE("a GPT-2 without biases and with squared ReLUs comes back as a model that computes the same") {
  LanguageModelConfig sizes = without_biases();
  sizes.ffn = "relu2";
  LanguageModel model(sizes, Rng(1));
  const LmConfig config =
      config_from_hugging_face(hugging_face_config(model.config, HuggingFaceLayout::gpt2), "config");
  LanguageModel back = model_from_hugging_face(config.model(config.vocab_size), HuggingFaceLayout::gpt2,
                                               to_hugging_face(model, HuggingFaceLayout::gpt2), "x");
  const Tensor symbols = Rng(3).integers({1, 4}, 5);
  // Zeros added change no bit.
  CHECK(back(symbols).to_vector<float>() == model(symbols).to_vector<float>());
}

TEST_CASE("a config.json that our model cannot follow is refused by the name of the setting") {
  constexpr auto llama = HuggingFaceLayout::llama, gpt2 = HuggingFaceLayout::gpt2;
  const struct {
    HuggingFaceLayout layout;
    const char *key, *value, *message;  // no value: the key is taken away
  } refusals[] = {
      {llama, "model_type", R"("bert")", "model_type: wanted llama or gpt2, got bert"},
      {llama, "hidden_size", nullptr, "has no hidden_size"},
      {llama, "hidden_size", "-4", "hidden_size: wanted a whole number above 0, got -4"},
      {llama, "hidden_size", R"("16")", "hidden_size: wanted a whole number above 0, got \"16\""},
      {llama, "hidden_size", "9223372036854775808",
       "hidden_size: wanted a whole number above 0, got 9223372036854775808"},
      {llama, "num_attention_heads", "3", "--n_embd: wanted a multiple of n_head (3), got 16"},
      {llama, "head_dim", "8", "head_dim: wanted 4, got 8"},
      {llama, "rope_scaling", R"({"type": "linear"})", "rope_scaling is not supported"},
      {llama, "rope_parameters", R"({"rope_theta": 1e6, "rope_type": "yarn"})",
       "rope_parameters: rope_type: wanted \"default\", got \"yarn\""},
      {llama, "rope_parameters", R"({"rope_type": "default"})", "rope_parameters: has no rope_theta"},
      {llama, "hidden_act", R"("gelu")", "hidden_act: wanted \"silu\", got \"gelu\""},
      {llama, "mlp_bias", "true", "mlp_bias: wanted false, as attention_bias is, got true"},
      {gpt2, "activation_function", R"("silu")",
       "activation_function: wanted gelu, gelu_new, relu or relu2, got silu"},
      {gpt2, "scale_attn_weights", "false", "scale_attn_weights: wanted true, got false"}};
  for (const auto& one : refusals) {
    Json json = kept_config(one.layout);
    json.erase(one.key);
    if (one.value != nullptr) json[one.key] = Json::parse(one.value);
    const std::string said = message_of([&] { config_from_hugging_face(json, "config.json"); });
    CHECK(said == std::string("config.json: ") + one.message);
  }
  CHECK(message_of([] { config_from_hugging_face(Json::array(), "config.json"); }) ==
        "config.json: wanted an object");
}

}  // namespace isobar::hugging_face_config_test
