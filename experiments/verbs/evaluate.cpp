// isobar evaluate: how well a checkpoint of train_lm predicts a text.
//
//   isobar evaluate runs/train_lm --corpus my.txt
//   isobar evaluate runs/train_lm --corpus tinyshakespeare.txt --part validation    what train_lm did not learn from
//
// The text is read in windows of block_size tokens, one after the other; every token but the first is
// predicted once, from those before it in its window.
#include <cmath>
#include <numbers>

#include "../../data/text_input.h"
#include "../../data/token_store.h"
#include "../../nn/text_loss.h"
#include "../harness/tool.h"
#include "../lm/checkpoint.h"
#include "verbs.h"

namespace isobar::verbs {
namespace {

void evaluate_on(const std::string& checkpoint, const std::string& corpus, const std::string& part) {
  check(!corpus.empty(), "--corpus: wanted a text file");
  check(!TokenStore::is_one(corpus), "--corpus: {} is a token store; name the text it was made from", corpus);
  Trained trained = load_trained(checkpoint);
  TextCorpus text;
  text.tokens = trained.tokenizer->encode(read_file(corpus, longest_text));
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

int evaluate(const Words& words) {
  std::string checkpoint, corpus, part = "all";
  Tool tool("isobar evaluate", "Loss, perplexity and bits per byte of a checkpoint of train_lm on a text.",
            "isobar evaluate runs/train_lm --corpus my.txt");
  tool.word("CHECKPOINT", checkpoint, "a checkpoint, or the folder of a run: its newest");
  tool.option("--corpus", corpus, "the text file");
  tool.option("--part", part, "all of it, or the validation part, the last tenth",
              one_of({"all", "validation"}));
  return tool.run(words, [&] { evaluate_on(checkpoint, corpus, part); });
}

}  // namespace isobar::verbs
