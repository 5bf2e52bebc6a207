#include "hugging_face.h"

#include <algorithm>

#include "../../autograd/ops.h"
#include "../model.h"

namespace isobar {
namespace {

// One tensor of a file: ours of these names, one below the other, and perhaps transposed.
struct Row {
  std::string theirs;
  std::vector<std::string> ours;
  bool transposed = false;
  bool optional = false;  // where ours are missing, theirs is left out
};

// The parts of a block: GPT-2's names and ours. Llama's names are ours.
const std::vector<std::pair<std::string, std::vector<std::string>>> gpt2_parts = {
    {"ln_1", {"input_layernorm"}},
    {"attn.c_attn", {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"}},
    {"attn.c_proj", {"self_attn.o_proj"}},
    {"ln_2", {"post_attention_layernorm"}},
    {"mlp.c_fc", {"mlp.linear1"}},
    {"mlp.c_proj", {"mlp.linear2"}}};
const std::vector<std::string> llama_parts = {
    "input_layernorm",  "self_attn.q_proj", "self_attn.k_proj",
    "self_attn.v_proj", "self_attn.o_proj", "post_attention_layernorm",
    "mlp.gate_proj",    "mlp.up_proj",      "mlp.down_proj"};

// Llama has the biases that the model has; GPT-2 has all of them, and its matrices are transposed.
std::vector<Row> rows_of(const LanguageModelConfig& config, HuggingFaceLayout layout) {
  const bool gpt2 = layout == HuggingFaceLayout::gpt2;
  const std::string all = gpt2 ? "transformer." : "model.";
  std::vector<Row> rows = {{all + (gpt2 ? "wte.weight" : "embed_tokens.weight"), {"embed_tokens.weight"}}};
  if (gpt2) rows.push_back({all + "wpe.weight", {"embed_positions.weight"}});
  if (!config.tie_embeddings) rows.push_back({"lm_head.weight", {"lm_head.weight"}});
  const auto add = [&](const std::string& theirs, const std::string& block,
                       const std::vector<std::string>& ours) {
    std::vector<std::string> weights, biases;
    for (const std::string& part : ours) {
      weights.push_back(block + part + ".weight");
      biases.push_back(block + part + ".bias");
    }
    rows.push_back({all + theirs + ".weight", weights, gpt2 && !ours[0].ends_with("norm")});
    rows.push_back({all + theirs + ".bias", biases, false, !gpt2});
  };
  for (int64_t i = 0; i < config.n_layer; ++i) {
    const std::string block = fmt::format("blocks.{}.", i);
    if (gpt2)
      for (const auto& [name, ours] : gpt2_parts) add(fmt::format("h.{}.{}", i, name), block, ours);
    else
      for (const std::string& part : llama_parts) add(fmt::format("layers.{}.{}", i, part), block, {part});
  }
  add(gpt2 ? "ln_f" : "norm", "", {"norm"});
  return rows;
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

bool same_numbers(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && a.to_vector<float>() == b.to_vector<float>();
}

// What to say where the names of a file begin with what a wrapper of the model puts there.
std::string prefix_hint(const std::map<std::string, Tensor>& given, const std::string& wanted) {
  for (const auto& [name, tensor] : given)
    if (name.size() > wanted.size() && name.ends_with("." + wanted))
      return fmt::format(
          ", but has '{}'; take '{}' off the names (torch.compile puts _orig_mod. there, DataParallel module.)",
          name, name.substr(0, name.size() - wanted.size()));
  return "";
}

}  // namespace

HuggingFaceLayout layout_from_name(const std::string& name) {
  check(name == "llama" || name == "gpt2", "layout: wanted llama or gpt2, got '{}'", name);
  return name == "llama" ? HuggingFaceLayout::llama : HuggingFaceLayout::gpt2;
}

std::string name_of(HuggingFaceLayout layout) {
  return layout == HuggingFaceLayout::llama ? "llama" : "gpt2";
}

void check_layout(const LanguageModelConfig& config, HuggingFaceLayout layout) {
  const auto want = [&](bool fits, const char* setting, const char* wanted, const std::string& got) {
    check(fits, "layout {}: wanted {} {}, the model has {}", name_of(layout), setting, wanted, got);
  };
  want(config.placement == Placement::pre, "placement", "pre", placement_name(config.placement));
  want(!config.qk_norm, "qk_norm", "false", "true");
  want(config.softcap == 0, "softcap", "0", fmt::format("{}", config.softcap));
  const char* positions = config.positions == Positions::rope ? "rope" : "learned";
  if (layout == HuggingFaceLayout::llama) {
    want(config.norm == "rmsnorm", "norm", "rmsnorm", config.norm);
    want(config.positions == Positions::rope, "positions", "rope", positions);
    want(config.ffn == "swiglu", "ffn", "swiglu", config.ffn);
  } else {
    want(config.norm == "layernorm", "norm", "layernorm", config.norm);
    want(config.positions == Positions::learned, "positions", "learned", positions);
    want(config.ffn != "swiglu", "ffn", "gelu, gelu_tanh, relu or relu2", config.ffn);
    want(config.n_kv_head == 0 || config.n_kv_head == config.n_head, "n_kv_head", "0",
         fmt::format("{}", config.n_kv_head));
  }
}

// In double, where no product overflows. A block has at least six tensors in every layout: two of norms or
// more of the attention, and four matrices.
void check_affordable(const LanguageModelConfig& config, int64_t tensors, int64_t numbers,
                      std::string_view who) {
  const double width = static_cast<double>(config.n_embd), layers = static_cast<double>(config.n_layer);
  const double places = config.positions == Positions::learned ? static_cast<double>(config.block_size) : 0;
  const bool swiglu = config.ffn == "swiglu";
  const double hidden = config.hidden > 0 ? static_cast<double>(config.hidden)
                        : swiglu          ? std::max(64.0, 8 * width / 3)
                                          : 4 * width;
  const double least = width * (static_cast<double>(config.vocab_size) + places +
                                layers * (2 * width + (swiglu ? 3 : 2) * hidden));
  check(least <= static_cast<double>(numbers) && 6 * layers <= static_cast<double>(tensors),
        "{}: its configuration asks for {} layers and at least {} numbers, its {} tensors have {}", who,
        config.n_layer, least, tensors, numbers);
}

bool is_weight(const std::string& name) {
  return !name.ends_with(".attn.bias") && !name.ends_with(".attn.masked_bias") &&
         !name.ends_with(".rotary_emb.inv_freq");
}

std::map<std::string, Tensor> to_hugging_face(LanguageModel& model, HuggingFaceLayout layout) {
  check_layout(model.config, layout);
  const std::map<std::string, Tensor> state = state_by_name(model);
  std::map<std::string, Tensor> tensors;
  for (const Row& row : rows_of(model.config, layout)) {
    std::vector<Tensor> parts;
    for (const std::string& name : row.ours)
      if (const auto found = state.find(name); found != state.end())
        parts.push_back(found->second);
      else if (!row.optional)
        parts.push_back(missing_bias(state, name));
    if (parts.empty()) continue;
    const Tensor joined = parts.size() == 1 ? parts[0] : concat(parts, 0);
    tensors.emplace(row.theirs, row.transposed ? contiguous(transpose(joined)) : joined);
  }
  return tensors;
}

LanguageModel model_from_hugging_face(const LanguageModelConfig& config, HuggingFaceLayout layout,
                                      const std::map<std::string, Tensor>& tensors, const std::string& who) {
  int64_t numbers = 0;
  for (const auto& [name, tensor] : tensors) numbers += tensor.numel();
  check_affordable(config, static_cast<int64_t>(tensors.size()), numbers, who);
  LanguageModel model(config, Rng(0));
  const std::map<std::string, Tensor> wanted = state_by_name(model);
  std::map<std::string, Tensor> given = tensors;
  // GPT-2's own file leaves "transformer." out; a tied head may stand there a second time.
  if (layout == HuggingFaceLayout::gpt2 && given.contains("wte.weight")) {
    given.clear();
    for (const auto& [name, tensor] : tensors)
      given.emplace(name == "lm_head.weight" ? name : "transformer." + name, tensor);
  }
  if (config.tie_embeddings) {
    const auto head = given.find("lm_head.weight"), embedding = given.find(rows_of(config, layout)[0].theirs);
    check(head == given.end() || embedding == given.end() || same_numbers(head->second, embedding->second),
          "{}: tensor 'lm_head.weight' is not '{}', though tie_word_embeddings is true, in config.json or by "
          "default; write false there if the model has a head of its own",
          who, embedding == given.end() ? "" : embedding->first);
    given.erase("lm_head.weight");
  }

  std::vector<NamedTensor> state;
  for (const Row& row : rows_of(model.config, layout)) {
    if (row.optional && !wanted.contains(row.ours[0])) continue;
    const auto found = given.find(row.theirs);
    check(found != given.end(), "{}: has no tensor '{}'{}", who, row.theirs,
          found == given.end() ? prefix_hint(given, row.theirs) : "");
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
