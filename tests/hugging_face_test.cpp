// Hugging Face's layouts: what an independent implementation computes from files that we exported
// (tests/fixtures/hugging_face.py, PyTorch 1.13.1), names, configurations, and files that do not fit.
#include "../experiments/lm/hugging_face_config.h"

#include <doctest/doctest.h>

#include <cmath>
#include <set>

#include "../data/safetensors.h"
#include "../nn/model.h"
#include "message_of.h"
#include "program.h"

using namespace isobar;

namespace {

constexpr HuggingFaceLayout layouts[] = {HuggingFaceLayout::llama, HuggingFaceLayout::gpt2};
const std::string fixtures = ISOBAR_SOURCE_DIR "/tests/fixtures/";
std::string tiny_name(HuggingFaceLayout layout) { return "tiny_" + name_of(layout); }

// Small models with every weight away from its initial value, which would hide a mix-up of norms and biases.
LanguageModel tiny(HuggingFaceLayout layout) {
  LanguageModelConfig config{.vocab_size = 13,
                             .block_size = 10,
                             .n_layer = 2,
                             .n_head = 4,
                             .n_embd = 16,
                             .norm_options = {.eps = 1e-3},
                             .hidden = 24,
                             .init_std = 0.3};
  if (layout == HuggingFaceLayout::llama) {
    config.n_kv_head = 2;
    config.rope_base = 100;
    config.tie_embeddings = false;
  } else {
    config.positions = Positions::learned;
    config.norm = "layernorm";
    config.ffn = "gelu_tanh";
    config.bias = true;
  }
  LanguageModel model(config, Rng(1));
  for (NamedTensor& entry : named_state(model)) {
    const Rng rng = Rng(2).split(entry.name);
    assign(entry.tensor, entry.tensor.detach() + rng.normal(entry.tensor.shape(), 0, 0.2));
  }
  return model;
}

void check_near(const std::vector<float>& a, const std::vector<float>& b, double tolerance) {
  REQUIRE(a.size() == b.size());
  for (size_t i = 0; i < a.size(); ++i)
    CHECK_MESSAGE(std::abs(a[i] - b[i]) <= tolerance, "element ", i, ": ", a[i], " instead of ", b[i]);
}

Json fixture(const std::string& name) { return Json::parse(file_text(fixtures + name)); }

LanguageModel model_of(const LmConfig& config, HuggingFaceLayout layout, const Safetensors& file,
                       const std::string& who = "x") {
  return model_from_hugging_face(config.model(config.vocab_size), layout, file.tensors, who);
}

Safetensors file_of(LanguageModel& model, HuggingFaceLayout layout) {
  return {to_hugging_face(model, layout), {{"format", "pt"}}};
}

// The model of a kept file.
LanguageModel imported(HuggingFaceLayout layout) {
  const std::string path = fixtures + tiny_name(layout);
  return model_of(config_from_hugging_face(fixture(tiny_name(layout) + ".config.json"), "config"), layout,
                  read_safetensors(path + ".safetensors"), path);
}

std::string refusal(HuggingFaceLayout layout, const std::function<void(Safetensors&)>& change) {
  Safetensors file = read_safetensors(fixtures + tiny_name(layout) + ".safetensors");
  change(file);
  const LmConfig config = config_from_hugging_face(fixture(tiny_name(layout) + ".config.json"), "config");
  return message_of([&] { model_of(config, layout, file); });
}

std::string config_refusal(HuggingFaceLayout layout, const char* key, const Json& value) {
  Json json = fixture(tiny_name(layout) + ".config.json");
  if (value.is_discarded())
    json.erase(key);
  else
    json[key] = value;
  return message_of([&] { config_from_hugging_face(json, "config.json"); });
}

}  // namespace

TEST_CASE("PyTorch computes the logits of our model from the file that we export") {
  const Json recorded = fixture("hugging_face.json");
  std::vector<int64_t> symbols;
  for (const Json& row : recorded["symbols"]) symbols.insert(symbols.end(), row.begin(), row.end());
  for (const HuggingFaceLayout layout : layouts) {
    CAPTURE(tiny_name(layout));
    LanguageModel model = tiny(layout);
    // The kept file is what is exported today (1e-6: initial weights are computed by the machine's libm),
    const Safetensors kept = read_safetensors(fixtures + tiny_name(layout) + ".safetensors");
    const Safetensors now = file_of(model, layout);
    CHECK(now.metadata == kept.metadata);
    REQUIRE(now.tensors.size() == kept.tensors.size());
    for (const auto& entry : kept.tensors) {
      const std::string& name = entry.first;
      const Tensor& tensor = entry.second;
      CAPTURE(name);
      REQUIRE(now.tensors.contains(name));
      CHECK(now.tensors.at(name).shape() == tensor.shape());
      check_near(now.tensors.at(name).to_vector<float>(), tensor.to_vector<float>(), 1e-6);
    }
    CHECK(hugging_face_config(model.config, layout) == fixture(tiny_name(layout) + ".config.json"));
    // and its logits are PyTorch's. 2e-5: sums of 16 and 24 f32 terms of size one, against f64.
    const std::vector<float> theirs = recorded["logits"][tiny_name(layout)].get<std::vector<float>>();
    check_near(model(tensor<int64_t>({2, 8}, symbols)).to_vector<float>(), theirs, 2e-5);
    LanguageModel back = imported(layout);
    check_near(back(tensor<int64_t>({2, 8}, symbols)).to_vector<float>(), theirs, 2e-5);
  }
}

TEST_CASE("export after import gives the same file, bit for bit") {
  for (const HuggingFaceLayout layout : layouts) {
    LanguageModel model = imported(layout);
    CHECK(safetensors_bytes(file_of(model, layout)) ==
          file_text(fixtures + tiny_name(layout) + ".safetensors"));
  }
}

TEST_CASE("biases that a GPT-2 must have and ours has not are zeros; a tied head is written once") {
  LanguageModel model({.vocab_size = 5,
                       .block_size = 4,
                       .n_layer = 1,
                       .n_head = 2,
                       .n_embd = 4,
                       .positions = Positions::learned,
                       .norm = "layernorm",
                       .norm_options = {.bias = false},
                       .ffn = "gelu"},
                      Rng(1));
  const Safetensors file = file_of(model, HuggingFaceLayout::gpt2);
  CHECK(file.tensors.at("transformer.h.0.attn.c_attn.bias").to_vector<float>() == std::vector<float>(12, 0));
  CHECK(file.tensors.at("transformer.ln_f.bias").shape() == Shape{4});
  CHECK_FALSE(file.tensors.contains("lm_head.weight"));
  const LmConfig config =
      config_from_hugging_face(hugging_face_config(model.config, HuggingFaceLayout::gpt2), "config");
  LanguageModel back = model_of(config, HuggingFaceLayout::gpt2, file);
  const Tensor symbols = Rng(3).integers({1, 4}, 5);
  // Zeros added change no bit.
  CHECK(back(symbols).to_vector<float>() == model(symbols).to_vector<float>());
}

TEST_CASE("GPT-2's own file is read: no \"transformer.\", a mask in each layer, the head a second time") {
  Safetensors file;
  for (const auto& [name, tensor] : read_safetensors(fixtures + "tiny_gpt2.safetensors").tensors)
    file.tensors.emplace(name.substr(std::string("transformer.").size()), tensor);
  file.tensors.emplace("lm_head.weight", file.tensors.at("wte.weight"));
  const LmConfig config = config_from_hugging_face(fixture("tiny_gpt2.config.json"), "config");
  LanguageModel model = model_of(config, HuggingFaceLayout::gpt2, file),
                same = imported(HuggingFaceLayout::gpt2);
  const Tensor symbols = Rng(3).integers({1, 8}, 13);
  CHECK(model(symbols).to_vector<float>() == same(symbols).to_vector<float>());
  CHECK_FALSE(is_weight("h.0.attn.bias"));
  CHECK_FALSE(is_weight("model.layers.0.self_attn.rotary_emb.inv_freq"));
  CHECK(is_weight("h.0.attn.c_attn.bias"));
}

TEST_CASE("tensors that do not belong to the configuration are named") {
  CHECK(refusal(HuggingFaceLayout::llama, [](Safetensors& file) {
          file.tensors.erase("model.norm.weight");
        }) == "x: has no tensor 'model.norm.weight'");
  CHECK(refusal(HuggingFaceLayout::llama, [](Safetensors& file) {
          file.tensors["model.norm.bias"] = zeros(16);
        }) == "x: nothing in the model answers to tensor 'model.norm.bias'");
  CHECK(refusal(HuggingFaceLayout::gpt2, [](Safetensors& file) {
          file.tensors["transformer.h.0.attn.c_attn.weight"] = zeros({48, 16});
        }) == "x: tensor 'transformer.h.0.attn.c_attn.weight': wanted [16, 48] by config.json, got [48, 16]");
  // A model of these sizes would not fit into any memory.
  LmConfig config = config_from_hugging_face(fixture("tiny_llama.config.json"), "config");
  const Safetensors file = read_safetensors(fixtures + "tiny_llama.safetensors");
  config.n_layer = 50;  // of few numbers each
  const auto refused = [&] { return message_of([&] { model_of(config, HuggingFaceLayout::llama, file); }); };
  CHECK(refused().starts_with("x: its configuration asks for 50 layers and at least "));
  CHECK(refused().ends_with(" tensors have 4336"));
  config.n_layer = 2;
  config.vocab_size = int64_t{1} << 50;
  CHECK(refused().starts_with("x: its configuration asks for 2 layers and at least 1.80143985"));
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

TEST_CASE("a model that a layout cannot express is not exported") {
  LanguageModel llama = tiny(HuggingFaceLayout::llama), gpt2 = tiny(HuggingFaceLayout::gpt2);
  CHECK(message_of([&] { to_hugging_face(llama, HuggingFaceLayout::gpt2); }) ==
        "layout gpt2: wanted norm layernorm, the model has rmsnorm");
  CHECK(message_of([&] { to_hugging_face(gpt2, HuggingFaceLayout::llama); }) ==
        "layout llama: wanted norm rmsnorm, the model has layernorm");
  LanguageModel normed({.vocab_size = 5, .n_layer = 1, .n_head = 2, .n_embd = 8, .qk_norm = true}, Rng(1));
  CHECK(message_of([&] { to_hugging_face(normed, HuggingFaceLayout::llama); }) ==
        "layout llama: wanted qk_norm false, the model has true");
  CHECK(message_of([] { layout_from_name("bert"); }) == "layout: wanted llama or gpt2, got 'bert'");
}
