// isobar import: a model in one of Hugging Face's layouts as a checkpoint that sample and evaluate take.
//
//   isobar import llama/model.safetensors -o llama.safetensors
//
// config.json and tokenizer.json are those beside the file unless others are named.
#include <filesystem>

#include "../../nn/model.h"
#include "../harness/tool.h"
#include "../lm/init_from.h"
#include "verbs.h"

namespace isobar::verbs {
namespace {

void read_model(const std::string& path, const std::string& config, const std::string& tokenizer,
                const std::string& output, bool force) {
  check(!output.empty(), "--output: wanted the checkpoint to write");
  check(force || !std::filesystem::exists(output), "{}: is there already; choose another name, or --force",
        output);
  const Checkpoint checkpoint = import_hugging_face(path, config, tokenizer);
  save_checkpoint(output, checkpoint);
  LanguageModel model = model_of(checkpoint);
  fmt::print("{}: {} parameters, {} tokens\n", output, parameter_count(model),
             checkpoint.tokenizer->vocab_size());
}

}  // namespace

int import_model(const Words& words) {
  std::string path, config, tokenizer, output;
  bool force = false;
  Tool tool("isobar import", "Reads model.safetensors and config.json into a checkpoint.",
            "isobar import llama/model.safetensors -o llama.safetensors");
  tool.word("MODEL", path, "model.safetensors");
  tool.option("--hf_config", config, "its config.json; empty: the one beside it");
  tool.option("--tokenizer", tokenizer, "its tokenizer.json, or 'byte'; empty: the one beside it");
  tool.option("-o,--output", output, "the checkpoint to write");
  tool.option("--force", force, "replace a file that is there");
  return tool.run(words, [&] { read_model(path, config, tokenizer, output, force); });
}

}  // namespace isobar::verbs
