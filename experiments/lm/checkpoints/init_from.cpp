#include "init_from.h"

#include "../../../data/checked_file.h"
#include "../../../data/json_text.h"
#include "../../../data/utf8_stream.h"
#include "../../../nn/lm/feed_forward.h"
#include "../../../nn/model.h"
#include "../../run/settings.h"

namespace isobar {
namespace {

namespace fs = std::filesystem;

constexpr size_t longest_config = size_t{1} << 20;

// What decides a model's function, given its weights.
const std::vector<std::string> model_settings = {
    "vocab_size", "n_layer", "n_head",         "n_kv_head", "n_embd", "block_size", "norm",
    "norm_eps",   "alpha",   "placement",      "ffn",       "hidden", "positions",  "rope_base",
    "qk_norm",    "softcap", "tie_embeddings", "bias"};

Json read_json(const std::string& path) {
  const Json json = parse_json<Json>(read_regular_file(path, longest_config));
  check(!json.is_discarded(), "{}: not valid JSON", path);
  return json;
}

std::shared_ptr<const Tokenizer> tokenizer_for(const std::string& path) {
  if (path == "byte") return std::make_shared<ByteTokenizer>();
  try {
    return tokenizer_from_json(read_regular_file(path, size_t{1} << 28), path);
  } catch (const Error& error) {
    throw_error(fmt::format("{}; isobar import takes another with --tokenizer, or 'byte'", error.what()));
  }
}

// The same settings with the numbers that a 0 means.
LmConfig spelled_out(LmConfig config, int64_t tokens) {
  if (config.vocab_size == 0) config.vocab_size = tokens;
  if (config.n_kv_head == 0) config.n_kv_head = config.n_head;
  return config;
}

// Those of transformers and ours; "gelu_new" is the tanh form.
const std::map<std::string, std::string>& gpt2_activations() {
  static const std::map<std::string, std::string> all = {{"gelu", "gelu"},
                                                         {"gelu_new", "gelu_tanh"},
                                                         {"gelu_pytorch_tanh", "gelu_tanh"},
                                                         {"relu", "relu"},
                                                         {"relu2", "relu2"}};
  return all;
}

// The sizes of a model under their names in a config.json, for LmConfig and LanguageModelConfig.
template <class Config>
using Sizes = std::vector<std::pair<const char*, int64_t Config::*>>;
template <class Config>
const Sizes<Config> llama_sizes = {{"vocab_size", &Config::vocab_size},
                                   {"hidden_size", &Config::n_embd},
                                   {"intermediate_size", &Config::hidden},
                                   {"num_hidden_layers", &Config::n_layer},
                                   {"num_attention_heads", &Config::n_head},
                                   {"num_key_value_heads", &Config::n_kv_head},
                                   {"max_position_embeddings", &Config::block_size}};
template <class Config>
const Sizes<Config> gpt2_sizes = {{"vocab_size", &Config::vocab_size}, {"n_embd", &Config::n_embd},
                                  {"n_inner", &Config::hidden},        {"n_layer", &Config::n_layer},
                                  {"n_head", &Config::n_head},         {"n_positions", &Config::block_size}};

const Sizes<LmConfig> gpt2_other_names = {{"hidden_size", &LmConfig::n_embd},
                                          {"num_hidden_layers", &LmConfig::n_layer},
                                          {"num_attention_heads", &LmConfig::n_head},
                                          {"max_position_embeddings", &LmConfig::block_size}};

std::string shown(const Json& value) { return one_line(value.dump()); }

// The members of a config.json, each refused where it is not what the model needs.
class Members {
 public:
  Members(const Json& json, std::string who) : json_(json), who_(std::move(who)) {
    check(json.is_object(), "{}: wanted an object", who_);
  }

  bool has(const char* key) const { return json_.contains(key) && !json_.at(key).is_null(); }
  int64_t count(const char* key) const {
    const Json& value = at(key);
    // As unsigned a number beyond 63 bits would come back negative.
    check(value.is_number_integer() && value.get<int64_t>() >= 1,
          "{}: {}: wanted a whole number above 0, got {}", who_, key, shown(value));
    return value.get<int64_t>();
  }
  double number(const char* key) const {
    check(at(key).is_number(), "{}: {}: wanted a number, got {}", who_, key, shown(at(key)));
    return at(key).get<double>();
  }
  std::string text(const char* key) const {
    check(at(key).is_string(), "{}: {}: wanted a text, got {}", who_, key, shown(at(key)));
    return at(key).get<std::string>();
  }
  bool flag(const char* key, bool otherwise) const {
    if (!has(key)) return otherwise;
    check(at(key).is_boolean(), "{}: {}: wanted true or false, got {}", who_, key, shown(at(key)));
    return at(key).get<bool>();
  }
  // Settings that our model has in one form only.
  void only(const char* key, const Json& value) const {
    check(!has(key) || at(key) == value, "{}: {}: wanted {}, got {}", who_, key, value.dump(),
          has(key) ? shown(at(key)) : "");
  }
  // Sets sizes, but those that are not there and need not be.
  void take(LmConfig& config, const auto& sizes, const char* optional) const {
    for (const auto& [key, size] : sizes)
      if (has(key) || key != std::string_view(optional)) config.*size = count(key);
  }
  // An object within, where there is one.
  std::optional<Members> part(const char* key) const {
    if (!has(key)) return std::nullopt;
    return Members(at(key), fmt::format("{}: {}", who_, key));
  }
  void none(const char* key) const { check(!has(key), "{}: {} is not supported", who_, key); }
  // No others than these.
  void only_keys(const std::set<std::string>& known) const {
    for (const auto& [key, value] : json_.items())
      check(value.is_null() || known.contains(key), "{}: {} is not supported", who_, one_line(key));
  }

 private:
  const Json& at(const char* key) const {
    check(has(key), "{}: has no {}", who_, key);
    return json_.at(key);
  }

  const Json& json_;
  std::string who_;
};

// What any model of transformers may have and ours has not. Keys that are not named here and below are ignored:
// transformers' own Llama and GPT-2 read them for no number of a forward pass either (token ids, dropout rates,
// initializer_range, use_cache, torch_dtype, names, versions, settings of generate()), or for its rounding alone
// (pretraining_tp, reorder_and_upcast_attn).
void check_common(const Members& json) {
  for (const char* key : {"quantization_config", "compression_config"}) json.none(key);
  json.only("pruned_heads", Json::object());
  json.only("is_encoder_decoder", false);
}

LmConfig llama_config(const Members& json, const std::string& who) {
  LmConfig config;
  check_common(json);
  json.only("hidden_act", "silu");
  json.none("rope_scaling");
  json.only("partial_rotary_factor", 1.0);
  json.take(config, llama_sizes<LmConfig>, "num_key_value_heads");
  if (!json.has("num_key_value_heads")) config.n_kv_head = config.n_head;
  config.norm = "rmsnorm";
  config.norm_eps = json.number("rms_norm_eps");
  config.placement = "pre";
  config.ffn = "swiglu";
  config.positions = "rope";
  config.rope_base = json.has("rope_theta") ? json.number("rope_theta") : 1e4;
  if (const std::optional<Members> rope = json.part("rope_parameters")) {      // transformers 5
    for (const char* key : {"rope_type", "type"}) rope->only(key, "default");  // the second is the older name
    rope->only("partial_rotary_factor", 1.0);
    rope->only_keys({"rope_type", "type", "partial_rotary_factor", "rope_theta"});
    config.rope_base = rope->number("rope_theta");
  }
  config.bias = json.flag("attention_bias", false);
  check(json.flag("mlp_bias", false) == config.bias, "{}: mlp_bias: wanted {}, as attention_bias is, got {}",
        who, config.bias, !config.bias);
  config.tie_embeddings = json.flag("tie_word_embeddings", false);
  if (json.has("head_dim")) json.only("head_dim", config.n_embd / config.n_head);
  return config;
}

LmConfig gpt2_config(const Members& json, const std::string& who) {
  LmConfig config;
  check_common(json);
  json.only("scale_attn_weights", true);
  json.only("scale_attn_by_inverse_layer_idx", false);
  json.only("add_cross_attention", false);
  json.take(config, gpt2_sizes<LmConfig>, "n_inner");
  // Their other names, which win in transformers.
  for (const auto& [key, size] : gpt2_other_names) json.only(key, config.*size);
  config.n_kv_head = config.n_head;
  config.norm = "layernorm";
  config.norm_eps = json.has("layer_norm_epsilon") ? json.number("layer_norm_epsilon") : 1e-5;
  config.placement = "pre";
  const std::string activation =
      json.has("activation_function") ? json.text("activation_function") : "gelu_new";
  const auto found = gpt2_activations().find(activation);
  check(found != gpt2_activations().end(),
        "{}: activation_function: wanted gelu, gelu_new, relu or relu2, got {}", who, activation);
  config.ffn = found->second;
  config.positions = "learned";
  config.bias = true;
  config.tie_embeddings = json.flag("tie_word_embeddings", true);
  return config;
}

}  // namespace

Checkpoint import_hugging_face(const std::string& path, std::string config_path, std::string tokenizer) {
  const fs::path folder = fs::path(path).parent_path();
  if (config_path.empty()) config_path = folder / "config.json";
  if (tokenizer.empty()) tokenizer = folder / "tokenizer.json";
  const Json json = read_json(config_path);
  LmConfig config = config_from_hugging_face(json, config_path);
  LanguageModel model =
      model_from_hugging_face(config.model(config.vocab_size), layout_from_name(json.at("model_type")),
                              read_safetensors(path, is_weight).tensors, path);
  Checkpoint checkpoint;
  checkpoint.tokenizer = tokenizer_for(tokenizer);
  config.model(checkpoint.tokenizer->vocab_size());  // throws where it has more tokens than the model
  checkpoint.config = json_text(settings_json(config));
  checkpoint.model = named_state(model);
  return checkpoint;
}

Checkpoint load_start(const std::string& path) {
  const fs::path inside = fs::path(path) / "model.safetensors";
  if (fs::is_directory(path) && fs::exists(inside)) {
    const std::vector<std::string> checkpoints = checkpoint_files(path);
    check(
        checkpoints.empty(),
        "'{}' holds a model.safetensors and checkpoints of a run, which may have other weights; name the one that is "
        "meant: {}, or {}",
        path, inside.string(), checkpoints.empty() ? "" : checkpoints.front());
    return import_hugging_face(inside);
  }
  if (path.ends_with(".safetensors") && !looks_checked(path)) return import_hugging_face(path);
  Checkpoint checkpoint = checkpoint_at(path);
  checkpoint.optimizer.clear();
  return checkpoint;
}

void take_model(LmConfig& config, const std::set<std::string>& given, const Checkpoint& start) {
  check(config.tokenizer.empty() || !given.contains("tokenizer"),
        "--tokenizer: {} brings its own; leave the option out", config.init_from);
  config.tokenizer.clear();
  LmConfig there = config_of(start);
  LmConfig spelled = spelled_out(there, start.tokenizer->vocab_size());
  const Json here = settings_json(config), plain = settings_json(there), full = settings_json(spelled);
  for (const Setting& setting : settings_of(there)) {
    const std::string& name = setting.name;
    if (std::find(model_settings.begin(), model_settings.end(), name) == model_settings.end()) continue;
    if (given.contains(name)) {
      if (name == "block_size" && there.positions == "rope") continue;
      check(here[name] == plain[name] || here[name] == full[name],
            "--init_from: '{}' is a model with another {}: {} there, {} here; leave the option out",
            config.init_from, name, full[name].dump(), here[name].dump());
    }
    set_setting(config, name, setting.value, "--init_from");
  }
}

Json hugging_face_config(LanguageModelConfig config, HuggingFaceLayout layout) {
  check_layout(config, layout);
  if (config.n_kv_head == 0) config.n_kv_head = config.n_head;
  if (config.hidden == 0)
    config.hidden = config.ffn == "swiglu" ? swiglu_hidden(config.n_embd) : 4 * config.n_embd;
  const bool llama = layout == HuggingFaceLayout::llama;
  Json json = {{"architectures", {llama ? "LlamaForCausalLM" : "GPT2LMHeadModel"}},
               {"model_type", llama ? "llama" : "gpt2"}};
  using Config = LanguageModelConfig;
  for (const auto& [name, size] : llama ? llama_sizes<Config> : gpt2_sizes<Config>) json[name] = config.*size;
  if (llama) {
    json["hidden_act"] = "silu";
    json["rms_norm_eps"] = config.norm_options.eps;
    json["rope_theta"] = config.rope_base;
    json["attention_bias"] = json["mlp_bias"] = config.bias;
  } else {
    json["activation_function"] = config.ffn == "gelu_tanh" ? "gelu_new" : config.ffn;
    json["layer_norm_epsilon"] = config.norm_options.eps;
    json["embd_pdrop"] = json["resid_pdrop"] = config.dropout;
    json["attn_pdrop"] = 0.0;
  }
  json["tie_word_embeddings"] = config.tie_embeddings;
  json["bos_token_id"] = json["eos_token_id"] = nullptr;
  json["torch_dtype"] = "float32";
  return json;
}

LmConfig config_from_hugging_face(const Json& json, const std::string& who) {
  const Members members(json, who);
  const std::string type = members.text("model_type");
  check(type == "llama" || type == "gpt2", "{}: model_type: wanted llama or gpt2, got {}", who,
        one_line(type));
  LmConfig config = type == "llama" ? llama_config(members, who) : gpt2_config(members, who);
  try {
    check_settings(config);
    config.check_together();
  } catch (const Error& error) {
    throw_error(fmt::format("{}: {}", who, error.what()));
  }
  return config;
}

}  // namespace isobar
