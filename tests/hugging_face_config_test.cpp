// The config.json of Hugging Face's layouts: the kept files (tests/fixtures/hugging_face.py) are what we export, and
// what our model cannot follow is refused.
#include "../experiments/lm/init_from.h"

#include <doctest/doctest.h>

#include "../data/safetensors.h"
#include "message_of.h"
#include "run.h"
#include "tiny_hugging_face.h"

namespace isobar::hugging_face_config_test {

Json kept_config(HuggingFaceLayout layout) {
  return Json::parse(file_text(tiny_path(layout) + ".config.json"));
}

std::string config_refusal(HuggingFaceLayout layout, const char* key, const Json& value) {
  Json json = kept_config(layout);
  if (value.is_discarded())
    json.erase(key);
  else
    json[key] = value;
  return message_of([&] { config_from_hugging_face(json, "config.json"); });
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

TEST_CASE("a GPT-2 without biases comes back as a model that computes the same") {
  LanguageModel model(without_biases(), Rng(1));
  const LmConfig config =
      config_from_hugging_face(hugging_face_config(model.config, HuggingFaceLayout::gpt2), "config");
  LanguageModel back = model_from_hugging_face(config.model(config.vocab_size), HuggingFaceLayout::gpt2,
                                               to_hugging_face(model, HuggingFaceLayout::gpt2), "x");
  const Tensor symbols = Rng(3).integers({1, 4}, 5);
  // Zeros added change no bit.
  CHECK(back(symbols).to_vector<float>() == model(symbols).to_vector<float>());
}

TEST_CASE("a config.json that our model cannot follow is refused by the name of the setting") {
  const Json none = Json(Json::value_t::discarded);
  CHECK(config_refusal(HuggingFaceLayout::llama, "model_type", "bert") ==
        "config.json: model_type: wanted llama or gpt2, got bert");
  CHECK(config_refusal(HuggingFaceLayout::llama, "hidden_size", none) == "config.json: has no hidden_size");
  CHECK(config_refusal(HuggingFaceLayout::llama, "hidden_size", -4) ==
        "config.json: hidden_size: wanted a whole number above 0, got -4");
  CHECK(config_refusal(HuggingFaceLayout::llama, "hidden_size", "16") ==
        "config.json: hidden_size: wanted a whole number above 0, got \"16\"");
  CHECK(config_refusal(HuggingFaceLayout::llama, "hidden_size", uint64_t{1} << 63) ==
        "config.json: hidden_size: wanted a whole number above 0, got 9223372036854775808");
  CHECK(config_refusal(HuggingFaceLayout::llama, "num_attention_heads", 3) ==
        "config.json: --n_embd: wanted a multiple of n_head (3), got 16");
  CHECK(config_refusal(HuggingFaceLayout::llama, "head_dim", 8) == "config.json: head_dim: wanted 4, got 8");
  CHECK(config_refusal(HuggingFaceLayout::llama, "rope_scaling", Json{{"type", "linear"}}) ==
        "config.json: rope_scaling is not supported");
  CHECK(config_refusal(HuggingFaceLayout::llama, "rope_parameters",
                       Json{{"rope_theta", 1e6}, {"rope_type", "yarn"}}) ==
        "config.json: rope_parameters: rope_type: wanted \"default\", got \"yarn\"");
  CHECK(config_refusal(HuggingFaceLayout::llama, "rope_parameters", Json{{"rope_type", "default"}}) ==
        "config.json: rope_parameters: has no rope_theta");
  CHECK(config_refusal(HuggingFaceLayout::llama, "hidden_act", "gelu") ==
        "config.json: hidden_act: wanted \"silu\", got \"gelu\"");
  CHECK(config_refusal(HuggingFaceLayout::llama, "mlp_bias", true) ==
        "config.json: mlp_bias: wanted false, as attention_bias is, got true");
  CHECK(config_refusal(HuggingFaceLayout::gpt2, "activation_function", "silu") ==
        "config.json: activation_function: wanted gelu, gelu_new, relu or relu2, got silu");
  CHECK(config_refusal(HuggingFaceLayout::gpt2, "scale_attn_weights", false) ==
        "config.json: scale_attn_weights: wanted true, got false");
  CHECK(message_of([] { config_from_hugging_face(Json::array(), "config.json"); }) ==
        "config.json: wanted an object");
}

}  // namespace isobar::hugging_face_config_test
