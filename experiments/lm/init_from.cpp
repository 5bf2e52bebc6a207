#include "init_from.h"

#include <algorithm>
#include <filesystem>

#include "../../data/checked_file.h"
#include "../../data/json_text.h"
#include "../../nn/model.h"
#include "../harness/settings.h"
#include "hugging_face_config.h"
#include "loaded_model.h"

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
  const Json json = parse_json<Json>(read_file(path, longest_config));
  check(!json.is_discarded(), "{}: not valid JSON", path);
  return json;
}

std::shared_ptr<const Tokenizer> tokenizer_for(const std::string& path) {
  if (path == "byte") return std::make_shared<ByteTokenizer>();
  try {
    return read_tokenizer(path);
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
  if (fs::is_directory(path) && fs::exists(inside)) return import_hugging_face(inside);
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

}  // namespace isobar
