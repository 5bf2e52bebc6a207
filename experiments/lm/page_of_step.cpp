#include "page_of_step.h"

#include "../../autograd/tape_page.h"
#include "../../nn/model.h"
#include "corpus.h"
#include "train.h"

namespace isobar {

std::string write_page_of_step(const LmConfig& config, const std::string& path) {
  const Corpus corpus = open_corpus(config.corpus, config.tokenizer);
  const Rng rng(0);
  LanguageModel model(config.model(corpus.tokenizer().vocab_size()), rng.split("model"));
  const Batch batch = corpus.train(config.block_size).random_batch(1, rng.split("batch").split(0));
  const TapeTrace trace;
  gradients_of(model, batch, rng.split("dropout").split(0));
  tape_page(trace, path, named_parameters(model));
  return fmt::format("{}: {} ops of one step on {} tokens; open it in a browser\n", path, trace.ops().size(),
                     config.block_size);
}

}  // namespace isobar
