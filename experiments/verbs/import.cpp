// isobar import: a model in one of Hugging Face's layouts as a checkpoint that sample and evaluate take.
//
//   isobar import llama/model.safetensors -o llama.h5
//
// config.json and tokenizer.json are those beside the file unless others are named.
#include <filesystem>

#include "../../data/file.h"
#include "../../nn/model.h"
#include "../harness/settings.h"
#include "../harness/tool.h"
#include "../lm/checkpoint.h"
#include "../lm/hugging_face.h"
#include "verbs.h"

namespace isobar::verbs {
namespace {

constexpr size_t longest_config = size_t{1} << 20;

Json read_json(const std::string& path) {
  const Json json = Json::parse(read_file(path, longest_config), nullptr, false);
  check(!json.is_discarded(), "{}: not valid JSON", path);
  return json;
}

std::shared_ptr<const Tokenizer> tokenizer_for(const std::string& path) {
  if (path == "byte") return std::make_shared<ByteTokenizer>();
  try {
    return read_tokenizer(path);
  } catch (const Error& error) {
    throw_error(fmt::format("{}; --tokenizer names another, or 'byte'", error.what()));
  }
}

void read_model(const std::string& path, std::string config_path, std::string tokenizer,
                const std::string& out, bool force) {
  check(!out.empty(), "--out: wanted the checkpoint to write");
  check(force || !std::filesystem::exists(out), "{}: is there already; choose another name, or --force", out);
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (config_path.empty()) config_path = folder / "config.json";
  if (tokenizer.empty()) tokenizer = folder / "tokenizer.json";
  const Json json = read_json(config_path);
  LmConfig config = config_from_hugging_face(json, config_path);
  LanguageModel model = model_from_hugging_face(config, layout_from_name(json.at("model_type")),
                                                read_safetensors(path, is_weight), path);
  Checkpoint checkpoint;
  checkpoint.tokenizer = tokenizer_for(tokenizer);
  config.model(checkpoint.tokenizer->vocab_size());  // throws where it has more tokens than the model
  checkpoint.config = json_text(settings_json(config));
  checkpoint.model = named_state(model);
  save_checkpoint(out, checkpoint);
  fmt::print("{}: {} parameters, {} tokens\n", out, parameter_count(model),
             checkpoint.tokenizer->vocab_size());
}

}  // namespace

int import_model(const Words& words) {
  std::string path, config, tokenizer, out;
  bool force = false;
  Tool tool("isobar import", "Reads model.safetensors and config.json into a checkpoint.");
  tool.word("MODEL", path, "model.safetensors");
  tool.option("--config", config, "its config.json (default: the one beside it)");
  tool.option("--tokenizer", tokenizer, "its tokenizer.json, or 'byte' (default: the one beside it)");
  tool.option("-o,--out", out, "the checkpoint to write");
  tool.option("--force", force, "replace a file that is there");
  return tool.run(words, [&] { read_model(path, config, tokenizer, out, force); });
}

}  // namespace isobar::verbs
