// Verbs on a checkpoint of train_lm: export and import in Hugging Face's layouts, sample and evaluate.
#include <numbers>

#include "../../data/text_input.h"
#include "../../data/token_store.h"
#include "../../data/utf8_stream.h"
#include "../../nn/lm/generate.h"
#include "../../nn/lm/text_loss.h"
#include "../../nn/model.h"
#include "../lm/checkpoints/init_from.h"
#include "../run/output_file.h"
#include "../run/tool.h"
#include "verbs.h"

namespace isobar::verbs {
namespace {

void write_model(const std::string& checkpoint, const std::filesystem::path& output,
                 const std::string& layout_name, bool force) {
  const HuggingFaceLayout layout = layout_from_name(layout_name);
  check(output.extension() == ".safetensors", "--output: wanted a name that ends with .safetensors, got '{}'",
        output.string());
  const std::filesystem::path folder = output.parent_path();
  const std::string config_file = folder / "config.json", tokenizer_file = folder / "tokenizer.json";
  OutputRules rules{.force = force, .inputs = {checkpoint}, .inputs_are = "checkpoints", .choose = "folder"};
  for (const std::string& read : checkpoint_files(checkpoint)) rules.inputs.push_back(read);
  for (const std::string& path : {output.string(), config_file, tokenizer_file}) check_output(path, rules);
  Trained trained = load_trained(checkpoint);
  const std::string bytes = safetensors_bytes({to_hugging_face(trained.model, layout), {{"format", "pt"}}});
  const std::string config = json_text(hugging_face_config(trained.model.config, layout));
  if (!folder.empty()) std::filesystem::create_directories(folder);
  const std::string tokenizer = trained.tokenizer->to_hugging_face();
  for (const std::string& path : {output.string(), config_file, tokenizer_file})
    check(!std::filesystem::is_directory(path), "{}: is a folder; choose another folder, or remove it", path);
  write_files_atomically(
      {{config_file, config}, {tokenizer_file, tokenizer}, {output, bytes, PathFrom::user}});
  say_written(output, fmt::format("{}: {} parameters, {} KiB\n", output.string(),
                                  parameter_count(trained.model), bytes.size() / 1024));
  say_written(output, fmt::format("{}: the {} tokenizer, {} tokens\n", tokenizer_file,
                                  trained.tokenizer->kind(), trained.tokenizer->vocab_size()));
}

void read_model(const std::string& path, const std::string& config, const std::string& tokenizer,
                const std::string& output, bool force) {
  check(!output.empty(), "--output: wanted the checkpoint to write");
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  check_output(output,
               {.force = force,
                .inputs = {path, config, tokenizer, folder / "config.json", folder / "tokenizer.json"},
                .inputs_are = "model's files"});
  const Checkpoint checkpoint = import_hugging_face(path, config, tokenizer);
  save_checkpoint(output, checkpoint);
  LanguageModel model = model_of(checkpoint);
  say_written(output,
              fmt::format("{}: {} parameters; the {} tokenizer, {} tokens\n", output, parameter_count(model),
                          checkpoint.tokenizer->kind(), checkpoint.tokenizer->vocab_size()));
}

struct SampleOptions {
  std::string checkpoint, prompt = "\n";
  int64_t max_new_tokens = 500, seed = 0;
  Sampling sampling{.temperature = 0.8, .top_k = 200};  // nanoGPT's sample.py
};

// A text without newlines, such as the synthetic language, begins with the first of its tokens instead.
std::string first_text(const Tokenizer& tokenizer, const std::string& prompt) {
  try {
    tokenizer.encode(prompt);
  } catch (const Error&) {
    if (prompt != SampleOptions().prompt) throw;
    const int32_t first = 0;
    return tokenizer.decode({&first, 1});
  }
  return prompt;
}

void draw(SampleOptions options) {
  check_sampling(options.sampling, "--");
  check(!options.prompt.empty(), "--prompt: wanted at least one character");
  Trained trained = load_trained(options.checkpoint);
  const std::string text = first_text(*trained.tokenizer, options.prompt);
  const std::vector<int32_t> prompt = trained.tokenizer->encode(text);
  options.sampling.tokens = trained.tokenizer->vocab_size();
  Utf8Stream stream;
  write_out(stream.push(text));
  generate(trained.model, prompt, options.max_new_tokens, options.sampling,
           Rng(static_cast<uint64_t>(options.seed)).split("sample"), [&](int32_t token) {
             write_out(stream.push(trained.tokenizer->decode({&token, 1})));
           });
  write_out(stream.finish() + "\n");
}

void evaluate_on(const std::string& checkpoint, const std::string& corpus, const std::string& part,
                 bool as_is) {
  check(!corpus.empty(), "--corpus: wanted a text file");
  check(!TokenStore::is_one(corpus), "--corpus: {} is a token store; name the text it was made from", corpus);
  Trained trained = load_trained(checkpoint);
  TextCorpus text;
  if (!as_is) warn_of({.paths = {corpus}});
  text.tokens = trained.tokenizer->encode(read_text(corpus));
  const std::span<const int32_t> tokens =
      part == "all" ? std::span<const int32_t>(text.tokens) : text.validation();
  check(tokens.size() >= 2, "{}: wanted at least two tokens, got {}", corpus, tokens.size());
  const TextLoss loss = text_loss(trained.model, tokens);
  const auto bytes = static_cast<double>(trained.tokenizer->decode(tokens.subspan(1)).size());
  fmt::print("{} tokens predicted, {} bytes\n", loss.tokens, bytes);
  fmt::print("loss {:.4f} nats a token, perplexity {:.3f}, {:.4f} bits a byte\n", loss.mean(),
             std::exp(loss.mean()), loss.nats / std::numbers::ln2 / bytes);
}

}  // namespace

int export_model(const Words& words) {
  std::string checkpoint, output = "model.safetensors", layout = "llama";
  bool force = false;
  Tool tool("isobar export", "Writes a checkpoint of train_lm as model.safetensors and config.json.",
            "isobar export runs/train_lm -o llama/model.safetensors --layout llama");
  tool.word("CHECKPOINT", checkpoint,
            "a checkpoint, or a run folder, of which the newest checkpoint is used");
  tool.option("-o,--output", output,
              "the file to write; config.json and tokenizer.json are written to its folder");
  tool.option("--layout", layout, "names and shapes of the weights", one_of({"llama", "gpt2"}));
  tool.option("--force", force, "replace existing files");
  return tool.run(words, [&] { write_model(checkpoint, output, layout, force); });
}

int import_model(const Words& words) {
  std::string path, config, tokenizer, output;
  bool force = false;
  Tool tool("isobar import", "Reads model.safetensors and config.json into a checkpoint.",
            "isobar import llama/model.safetensors -o llama.safetensors");
  tool.word("MODEL", path, "model.safetensors");
  tool.option("--hf_config", config, "its config.json; empty: the one in its folder");
  tool.option("--tokenizer", tokenizer, "its tokenizer.json, or 'byte'; empty: the one in its folder");
  tool.option("-o,--output", output, "the checkpoint to write");
  tool.option("--force", force, "replace an existing file");
  return tool.run(words, [&] { read_model(path, config, tokenizer, output, force); });
}

int sample(const Words& words) {
  SampleOptions options;
  Tool tool("isobar sample", "Draws text from a checkpoint of train_lm.",
            "isobar sample runs/train_lm --prompt \"ROMEO:\"");
  tool.word("CHECKPOINT", options.checkpoint,
            "a checkpoint, or a run folder, of which the newest checkpoint is used");
  tool.option("--prompt", options.prompt, "the text to continue");
  tool.option("--max_new_tokens", options.max_new_tokens, "number of tokens to draw", at_least(0));
  tool.option("--temperature", options.sampling.temperature, "divides the logits; 0: the most likely token");
  tool.option("--top_k", options.sampling.top_k, "draw from the k most likely tokens; 0: from all");
  tool.option("--top_p", options.sampling.top_p,
              "draw from the smallest set of tokens with this total probability");
  tool.option("--seed", options.seed, "seed of the random numbers", at_least(0));
  return tool.run(words, [&] { draw(options); });
}

int evaluate(const Words& words) {
  std::string checkpoint, corpus, part = "all";
  bool as_is = false;
  Tool tool("isobar evaluate", "Computes loss, perplexity and bits per byte of a checkpoint on a text.",
            "isobar evaluate runs/train_lm --corpus my.txt");
  tool.word("CHECKPOINT", checkpoint,
            "a checkpoint, or a run folder, of which the newest checkpoint is used");
  tool.option("--corpus", corpus, "the text file");
  tool.option("--part", part, "the whole text, or its validation part, the last tenth",
              one_of({"all", "validation"}));
  tool.option("--as_is", as_is, as_is_help);
  return tool.run(words, [&] { evaluate_on(checkpoint, corpus, part, as_is); });
}

}  // namespace isobar::verbs
