// isobar sample: text drawn from a checkpoint of train_lm, as it comes.
//
//   isobar sample runs/train_lm --prompt "ROMEO:"
//   isobar sample runs/train_lm/checkpoints/best.safetensors --temperature 0        always the likeliest token
//
// The same seed gives the same text. What the text has of bytes that are no UTF-8 is shown as "�".
#include "../../data/utf8_stream.h"
#include "../../nn/generate.h"
#include "../harness/tool.h"
#include "../lm/checkpoint.h"
#include "verbs.h"

namespace isobar::verbs {
namespace {

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

}  // namespace

int sample(const Words& words) {
  SampleOptions options;
  Tool tool("isobar sample", "Draws text from a checkpoint of train_lm.",
            "isobar sample runs/train_lm --prompt \"ROMEO:\"");
  tool.word("CHECKPOINT", options.checkpoint, "a checkpoint, or the folder of a run: its newest");
  tool.option("--prompt", options.prompt, "the text to go on from");
  tool.option("--max_new_tokens", options.max_new_tokens, "tokens to draw", at_least(0));
  tool.option("--temperature", options.sampling.temperature, "divides the logits; 0: the likeliest token");
  tool.option("--top_k", options.sampling.top_k, "draw from the k likeliest; 0: from all");
  tool.option("--top_p", options.sampling.top_p,
              "draw from the fewest likeliest that have this chance together");
  tool.option("--seed", options.seed, "of the random numbers", at_least(0));
  return tool.run(words, [&] { draw(options); });
}

}  // namespace isobar::verbs
