// Hugging Face's layouts: what an independent implementation computes from files that we exported
// (tests/fixtures/hugging_face.py, PyTorch 1.13.1), names, and files that do not fit. Their config.json:
// hugging_face_config_test.cpp.
#include "../../nn/lm/hugging_face.h"

#include <doctest/doctest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "../../data/safetensors.h"
#include "../../nn/model.h"
#include "../message_of.h"
#include "../temporary_folder.h"
#include "tiny_hugging_face.h"

namespace isobar::hugging_face_test {

using Json = nlohmann::json;

// Every weight is away from its initial value, which would hide a mix-up of norms and biases.
LanguageModel tiny(HuggingFaceLayout layout) {
  LanguageModel model(tiny_config(layout), Rng(1));
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

Safetensors kept(HuggingFaceLayout layout) { return read_safetensors(tiny_path(layout) + ".safetensors"); }

Safetensors file_of(LanguageModel& model, HuggingFaceLayout layout) {
  return {to_hugging_face(model, layout), {{"format", "pt"}}};
}

// The model of a kept file.
LanguageModel imported(HuggingFaceLayout layout) {
  return model_from_hugging_face(tiny_config(layout), layout, kept(layout).tensors, "kept");
}

std::string refusal(HuggingFaceLayout layout, const std::function<void(Safetensors&)>& change) {
  Safetensors file = kept(layout);
  change(file);
  return message_of([&] { model_from_hugging_face(tiny_config(layout), layout, file.tensors, "x"); });
}

std::string layout_refusal(HuggingFaceLayout layout,
                           const std::function<void(LanguageModelConfig&)>& change) {
  LanguageModelConfig config = tiny_config(layout);
  change(config);
  return message_of([&] { check_layout(config, layout); });
}

TEST_CASE("PyTorch computes the logits of our model from the file that we export") {
  const Json recorded = Json::parse(file_text(ISOBAR_SOURCE_DIR "/tests/fixtures/hugging_face.json"));
  std::vector<int64_t> symbols;
  for (const Json& row : recorded["symbols"]) symbols.insert(symbols.end(), row.begin(), row.end());
  for (const HuggingFaceLayout layout : layouts) {
    const std::string name_of_model = "tiny_" + name_of(layout);
    CAPTURE(name_of_model);
    LanguageModel model = tiny(layout);
    // The kept file is what is exported today (1e-6: initial weights are computed by the machine's libm),
    const Safetensors before = kept(layout), now = file_of(model, layout);
    CHECK(now.metadata == before.metadata);
    REQUIRE(now.tensors.size() == before.tensors.size());
    for (const auto& entry : before.tensors) {
      const std::string& name = entry.first;
      const Tensor& tensor = entry.second;
      CAPTURE(name);
      REQUIRE(now.tensors.contains(name));
      CHECK(now.tensors.at(name).shape() == tensor.shape());
      check_near(now.tensors.at(name).to_vector<float>(), tensor.to_vector<float>(), 1e-6);
    }
    // and its logits are PyTorch's. 2e-5: sums of 16 and 24 f32 terms of size one, against f64.
    const std::vector<float> theirs = recorded["logits"][name_of_model].get<std::vector<float>>();
    check_near(model(tensor<int64_t>({2, 8}, symbols)).to_vector<float>(), theirs, 2e-5);
    LanguageModel back = imported(layout);
    check_near(back(tensor<int64_t>({2, 8}, symbols)).to_vector<float>(), theirs, 2e-5);
  }
}

TEST_CASE("export after import gives the same file, bit for bit") {
  for (const HuggingFaceLayout layout : layouts) {
    LanguageModel model = imported(layout);
    CHECK(safetensors_bytes(file_of(model, layout)) == file_text(tiny_path(layout) + ".safetensors"));
  }
}

TEST_CASE("biases that a GPT-2 must have and ours has not are zeros; a tied head is written once") {
  LanguageModel model(without_biases(), Rng(1));
  const Safetensors file = file_of(model, HuggingFaceLayout::gpt2);
  CHECK(file.tensors.at("transformer.h.0.attn.c_attn.bias").to_vector<float>() == std::vector<float>(12, 0));
  CHECK(file.tensors.at("transformer.ln_f.bias").shape() == Shape{4});
  CHECK_FALSE(file.tensors.contains("lm_head.weight"));
  LanguageModelConfig biased = tiny_config(HuggingFaceLayout::llama);  // has all biases of its own
  biased.bias = true;
  LanguageModel llama(biased, Rng(1));
  const auto theirs = to_hugging_face(llama, HuggingFaceLayout::llama);
  CHECK_NOTHROW(model_from_hugging_face(biased, HuggingFaceLayout::llama, theirs, "x"));
}

TEST_CASE("GPT-2's own file is read: no \"transformer.\", a mask in each layer, the head a second time") {
  Safetensors file;
  for (const auto& [name, tensor] : kept(HuggingFaceLayout::gpt2).tensors)
    file.tensors.emplace(name.substr(std::string("transformer.").size()), tensor);
  file.tensors.emplace("lm_head.weight", file.tensors.at("wte.weight"));
  LanguageModel model = model_from_hugging_face(tiny_config(HuggingFaceLayout::gpt2), HuggingFaceLayout::gpt2,
                                                file.tensors, "x"),
                same = imported(HuggingFaceLayout::gpt2);
  const Tensor symbols = Rng(3).integers({1, 8}, 13);
  CHECK(model(symbols).to_vector<float>() == same(symbols).to_vector<float>());
  CHECK_FALSE(is_weight("h.0.attn.bias"));
  CHECK_FALSE(is_weight("h.0.attn.masked_bias"));
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
  // Wrappers of PyTorch's put a prefix before all names.
  CHECK(refusal(HuggingFaceLayout::gpt2,
                [](Safetensors& file) {
                  std::map<std::string, Tensor> wrapped;
                  for (const auto& [name, tensor] : file.tensors)
                    wrapped.emplace("_orig_mod." + name, tensor);
                  file.tensors = wrapped;
                }) ==
        "x: has no tensor 'transformer.wte.weight', but has '_orig_mod.transformer.wte.weight'; take "
        "'_orig_mod.' off the names (torch.compile puts _orig_mod. there, DataParallel module.)");
  // A tied model has one matrix.
  const auto with_head = [](const auto& head) {
    return refusal(HuggingFaceLayout::gpt2, [&](Safetensors& file) {
      file.tensors["lm_head.weight"] = head(file.tensors.at("transformer.wte.weight"));
    });
  };
  CHECK(with_head([](const Tensor& embedding) { return embedding * 1; }) == "");
  for (const std::string& said :
       {with_head([](const Tensor& embedding) { return embedding + 1e-3; }), with_head([](const Tensor&) {
          return zeros({13, 4});
        })})
    CHECK(
        said ==
        "x: tensor 'lm_head.weight' is not 'transformer.wte.weight', though tie_word_embeddings is true, in "
        "config.json or by default; write false there if the model has a head of its own");
  // A model of these sizes would not fit into any memory.
  LanguageModelConfig config = tiny_config(HuggingFaceLayout::llama);
  const Safetensors file = kept(HuggingFaceLayout::llama);
  config.vocab_size = int64_t{1} << 50;
  const std::string refused =
      message_of([&] { model_from_hugging_face(config, HuggingFaceLayout::llama, file.tensors, "x"); });
  CHECK(refused.starts_with("x: its configuration asks for 2 layers and at least 1.80143985"));
  CHECK(refused.ends_with(" tensors have 4336"));
}

TEST_CASE("each setting that a layout cannot express is named, with what it wants") {
  using Layout = HuggingFaceLayout;
  struct Row {
    Layout layout;
    void (*change)(LanguageModelConfig&);
    std::string wanted;
  };
  const Row rows[] = {
      {Layout::llama, [](auto& c) { c.softcap = 30; }, "softcap 0, the model has 30"},
      {Layout::gpt2, [](auto& c) { c.placement = Placement::post; }, "placement pre, the model has post"},
      {Layout::llama, [](auto& c) { c.qk_norm = true; }, "qk_norm false, the model has true"},
      {Layout::llama, [](auto& c) { c.norm = "layernorm"; }, "norm rmsnorm, the model has layernorm"},
      {Layout::llama, [](auto& c) { c.positions = Positions::learned; },
       "positions rope, the model has learned"},
      {Layout::llama, [](auto& c) { c.ffn = "gelu"; }, "ffn swiglu, the model has gelu"},
      {Layout::gpt2, [](auto& c) { c.positions = Positions::rope; }, "positions learned, the model has rope"},
      {Layout::gpt2, [](auto& c) { c.ffn = "swiglu"; },
       "ffn gelu, gelu_tanh, relu or relu2, the model has swiglu"},
      {Layout::gpt2, [](auto& c) { c.n_kv_head = 2; }, "n_kv_head 0, the model has 2"}};
  for (const Row& row : rows)
    CHECK(layout_refusal(row.layout, row.change) ==
          "layout " + name_of(row.layout) + ": wanted " + row.wanted);
  for (const Layout layout : layouts) {
    CHECK(layout_refusal(layout, [](auto&) {}).empty());
    CHECK(layout_from_name(name_of(layout)) == layout);
  }
  CHECK(layout_refusal(Layout::gpt2, [](auto& c) { c.n_kv_head = 4; }).empty());
  LanguageModel llama = tiny(Layout::llama);
  CHECK(message_of([&] { to_hugging_face(llama, Layout::gpt2); }) ==
        "layout gpt2: wanted norm layernorm, the model has rmsnorm");
  CHECK(message_of([] { layout_from_name("bert"); }) == "layout: wanted llama or gpt2, got 'bert'");
}

}  // namespace isobar::hugging_face_test
