#include "hugging_face.h"

#include <algorithm>
#include <map>

#include "../../autograd/ops.h"
#include "../../nn/model.h"
#include "affordable.h"
#include "hugging_face_config.h"

namespace isobar {
namespace {

// One tensor of a file: ours of these names, one below the other, and perhaps transposed.
struct Row {
  std::string theirs;
  std::vector<std::string> ours;
  bool transposed = false;
  bool optional = false;  // where ours are missing, theirs is left out
};

// In Llama's layout names are ours but for their beginnings.
std::vector<Row> llama_rows(const LanguageModelConfig& config) {
  std::vector<Row> rows = {{"model.embed_tokens.weight", {"embed_tokens.weight"}},
                           {"model.norm.weight", {"norm.weight"}}};
  if (!config.tie_embeddings) rows.push_back({"lm_head.weight", {"lm_head.weight"}});
  for (int64_t i = 0; i < config.n_layer; ++i) {
    const std::string theirs = fmt::format("model.layers.{}.", i), ours = fmt::format("blocks.{}.", i);
    for (const char* norm : {"input_layernorm.weight", "post_attention_layernorm.weight"})
      rows.push_back({theirs + norm, {ours + norm}});
    for (const char* part : {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj",
                             "mlp.gate_proj", "mlp.up_proj", "mlp.down_proj"}) {
      rows.push_back({theirs + part + ".weight", {ours + part + ".weight"}});
      rows.push_back({theirs + part + ".bias", {ours + part + ".bias"}, false, true});
    }
  }
  return rows;
}

std::vector<Row> gpt2_rows(const LanguageModelConfig& config) {
  std::vector<Row> rows = {{"transformer.wte.weight", {"embed_tokens.weight"}},
                           {"transformer.wpe.weight", {"embed_positions.weight"}}};
  if (!config.tie_embeddings) rows.push_back({"lm_head.weight", {"lm_head.weight"}});
  const auto add = [&](const std::string& theirs, const std::vector<std::string>& ours, bool linear_part) {
    std::vector<std::string> weights, biases;
    for (const std::string& part : ours) {
      weights.push_back(part + ".weight");
      biases.push_back(part + ".bias");
    }
    rows.push_back({"transformer." + theirs + ".weight", weights, linear_part});
    rows.push_back({"transformer." + theirs + ".bias", biases});
  };
  for (int64_t i = 0; i < config.n_layer; ++i) {
    const std::string theirs = fmt::format("h.{}.", i), ours = fmt::format("blocks.{}.", i);
    add(theirs + "ln_1", {ours + "input_layernorm"}, false);
    add(theirs + "attn.c_attn",
        {ours + "self_attn.q_proj", ours + "self_attn.k_proj", ours + "self_attn.v_proj"}, true);
    add(theirs + "attn.c_proj", {ours + "self_attn.o_proj"}, true);
    add(theirs + "ln_2", {ours + "post_attention_layernorm"}, false);
    add(theirs + "mlp.c_fc", {ours + "mlp.linear1"}, true);
    add(theirs + "mlp.c_proj", {ours + "mlp.linear2"}, true);
  }
  add("ln_f", {"norm"}, false);
  return rows;
}

std::vector<Row> rows_of(const LanguageModelConfig& config, Layout layout) {
  return layout == Layout::llama ? llama_rows(config) : gpt2_rows(config);
}

std::map<std::string, Tensor> state_by_name(LanguageModel& model) {
  std::map<std::string, Tensor> state;
  for (const NamedTensor& entry : named_state(model)) state.emplace(entry.name, entry.tensor.detach());
  return state;
}

// Zeros in the place of a bias that the model has not: as long as its weight has rows, or a norm elements.
Tensor missing_bias(const std::map<std::string, Tensor>& state, std::string name) {
  name.replace(name.rfind("bias"), 4, "weight");
  return zeros(state.at(name).size(0));
}

}  // namespace

Layout layout_from_name(const std::string& name) {
  check(name == "llama" || name == "gpt2", "layout: wanted llama or gpt2, got '{}'", name);
  return name == "llama" ? Layout::llama : Layout::gpt2;
}

bool is_weight(const std::string& name) {
  return !name.ends_with(".attn.bias") && !name.ends_with(".attn.masked_bias") &&
         !name.ends_with(".rotary_emb.inv_freq");
}

Safetensors to_hugging_face(LanguageModel& model, Layout layout) {
  check_layout(model.config, layout);
  const std::map<std::string, Tensor> state = state_by_name(model);
  Safetensors file{{}, {{"format", "pt"}}};
  for (const Row& row : rows_of(model.config, layout)) {
    std::vector<Tensor> parts;
    for (const std::string& name : row.ours)
      if (const auto found = state.find(name); found != state.end())
        parts.push_back(found->second);
      else if (!row.optional)
        parts.push_back(missing_bias(state, name));
    if (parts.empty()) continue;
    const Tensor joined = parts.size() == 1 ? parts[0] : concat(parts, 0);
    file.tensors.emplace(row.theirs, row.transposed ? contiguous(transpose(joined)) : joined);
  }
  return file;
}

LanguageModel model_from_hugging_face(const LmConfig& config, Layout layout, const Safetensors& file,
                                      const std::string& who) {
  int64_t numbers = 0;
  for (const auto& [name, tensor] : file.tensors) numbers += tensor.numel();
  const LanguageModelConfig sizes = config.model(config.vocab_size);
  check_affordable(sizes, static_cast<int64_t>(file.tensors.size()), numbers, who);
  LanguageModel model(sizes, Rng(0));
  const std::map<std::string, Tensor> wanted = state_by_name(model);
  std::map<std::string, Tensor> given = file.tensors;
  // GPT-2's own file leaves "transformer." out; a tied head may stand there a second time.
  if (layout == Layout::gpt2 && given.contains("wte.weight")) {
    given.clear();
    for (const auto& [name, tensor] : file.tensors)
      given.emplace(name == "lm_head.weight" ? name : "transformer." + name, tensor);
  }
  if (config.tie_embeddings) given.erase("lm_head.weight");

  std::vector<NamedTensor> state;
  for (const Row& row : rows_of(model.config, layout)) {
    if (row.optional && !wanted.contains(row.ours[0])) continue;
    const auto found = given.find(row.theirs);
    check(found != given.end(), "{}: has no tensor '{}'", who, row.theirs);
    Shape shape = wanted.at(row.ours[0]).shape();
    int64_t extent = 0;
    for (const std::string& name : row.ours) extent += wanted.at(name).size(0);
    shape = row.transposed ? Shape{shape[1], extent} : shape.with(0, extent);
    check(found->second.shape() == shape, "{}: tensor '{}': wanted {} by config.json, got {}", who,
          row.theirs, shape, found->second.shape());
    const Tensor joined = row.transposed ? transpose(found->second) : found->second;
    int64_t begin = 0;
    for (const std::string& name : row.ours) {
      const int64_t end = begin + wanted.at(name).size(0);
      state.push_back({name, contiguous(slice(joined, 0, begin, end))});
      begin = end;
    }
    given.erase(found);
  }
  check(given.empty(), "{}: nothing in the model answers to tensor '{}'", who,
        given.empty() ? "" : given.begin()->first);
  load_state(model, state);
  return model;
}

}  // namespace isobar
