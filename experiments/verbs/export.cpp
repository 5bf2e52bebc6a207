// isobar export: a checkpoint of train_lm as Hugging Face's transformers reads it.
//
//   isobar export runs/train_lm -o llama/model.safetensors --layout llama
//
// Written beside model.safetensors: config.json, and tokenizer.json, with which `import` reads it back. (Of
// our tokenizers, transformers knows byte-level BPE only.)
#include <filesystem>

#include "../../nn/model.h"
#include "../harness/tool.h"
#include "../lm/init_from.h"
#include "verbs.h"

namespace isobar::verbs {
namespace {

void write_model(const std::string& checkpoint, const std::filesystem::path& output,
                 const std::string& layout_name, bool force) {
  const HuggingFaceLayout layout = layout_from_name(layout_name);
  check(output.extension() == ".safetensors", "--output: wanted a name that ends with .safetensors, got '{}'",
        output.string());
  const std::filesystem::path folder = output.parent_path();
  for (const auto& path : {output, folder / "config.json", folder / "tokenizer.json"})
    check(force || !std::filesystem::exists(path), "{}: is there already; choose another folder, or --force",
          path.string());
  Trained trained = load_trained(checkpoint);
  const std::string bytes = safetensors_bytes({to_hugging_face(trained.model, layout), {{"format", "pt"}}});
  const std::string config = json_text(hugging_face_config(trained.model.config, layout));
  if (!folder.empty()) std::filesystem::create_directories(folder);
  const std::string tokenizer = trained.tokenizer->to_json();
  write_files_atomically(
      {{folder / "config.json", config}, {folder / "tokenizer.json", tokenizer}, {output, bytes}});
  fmt::print("{}: {} parameters, {} KiB\n", output.string(), parameter_count(trained.model),
             bytes.size() / 1024);
}

}  // namespace

int export_model(const Words& words) {
  std::string checkpoint, output = "model.safetensors", layout = "llama";
  bool force = false;
  Tool tool("isobar export", "Writes a checkpoint of train_lm as model.safetensors and config.json.",
            "isobar export runs/train_lm -o llama/model.safetensors --layout llama");
  tool.word("CHECKPOINT", checkpoint, "a checkpoint, or the folder of a run: its newest");
  tool.option("-o,--output", output, "the file to write; config.json and tokenizer.json come beside it");
  tool.option("--layout", layout, "names and form of the weights", one_of({"llama", "gpt2"}));
  tool.option("--force", force, "replace files that are there");
  return tool.run(words, [&] { write_model(checkpoint, output, layout, force); });
}

}  // namespace isobar::verbs
