// The config.json of Hugging Face's layouts: the kept files (tests/fixtures/hugging_face.py) are what we
// export, and what our model cannot follow is refused.
#include "../../experiments/lm/checkpoints/init_from.h"

#include <doctest/doctest.h>

#include "../../experiments/run/settings.h"
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

TEST_CASE("keys that change no number of a forward pass are ignored") {
  for (const HuggingFaceLayout layout : layouts) {
    Json json = kept_config(layout);
    LmConfig plain = config_from_hugging_face(json, "config");
    json.update(
        R"({"initializer_range": 0.5, "use_cache": false, "torch_dtype": "bfloat16", "attention_dropout": 0.1,
        "pretraining_tp": 2, "reorder_and_upcast_attn": true, "transformers_version": "5.0", "pad_token_id": 3,
        "pruned_heads": {}, "quantization_config": null, "partial_rotary_factor": 1, "rope_parameters": null})"_json);
    LmConfig same = config_from_hugging_face(json, "config");
    CHECK(settings_json(same) == settings_json(plain));
  }
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
      {llama, "rope_parameters", R"({"rope_theta": 1e4, "type": "linear", "factor": 4.0})",
       "rope_parameters: type: wanted \"default\", got \"linear\""},
      {llama, "rope_parameters", R"({"rope_theta": 1e4, "factor": 4.0})",
       "rope_parameters: factor is not supported"},
      {llama, "rope_parameters", R"({"rope_theta": 1e4, "partial_rotary_factor": 0.5})",
       "rope_parameters: partial_rotary_factor: wanted 1.0, got 0.5"},
      {llama, "partial_rotary_factor", "0.5", "partial_rotary_factor: wanted 1.0, got 0.5"},
      {llama, "quantization_config", R"({"bits": 4})", "quantization_config is not supported"},
      {llama, "pruned_heads", R"({"0": [1]})", "pruned_heads: wanted {}, got {\"0\":[1]}"},
      {llama, "attention_bias", "true", "mlp_bias: wanted true, as attention_bias is, got false"},
      {gpt2, "hidden_size", "8", "hidden_size: wanted 16, got 8"},
      {gpt2, "num_hidden_layers", "7", "num_hidden_layers: wanted 2, got 7"},
      {gpt2, "scale_attn_by_inverse_layer_idx", "true",
       "scale_attn_by_inverse_layer_idx: wanted false, got true"},
      {gpt2, "is_encoder_decoder", "true", "is_encoder_decoder: wanted false, got true"},
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
