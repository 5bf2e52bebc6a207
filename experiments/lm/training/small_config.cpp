#include "small_config.h"

namespace isobar {
namespace {

std::span<const int32_t> first_half(std::span<const int32_t> tokens) {
  return tokens.first(tokens.size() / 2);
}
std::span<const int32_t> first(std::span<const int32_t> tokens, int64_t n) {
  return n == 0 ? tokens : tokens.first(std::min(tokens.size(), static_cast<size_t>(n)));
}
std::span<const int32_t> second_half(std::span<const int32_t> tokens) {
  return tokens.subspan(tokens.size() / 2);
}

}  // namespace

void TinyConfig::fields(Fields& f) {
  f("seeds", seeds, "runs of every model, from seed --seed on", at_least(1));
  f("corpus", corpus, "text file, or 'synthetic'; empty: Tiny Shakespeare");
  f("n_head", n_head, "query heads", at_least(1));
  f("n_kv_head", n_kv_head, "key/value heads; divides n_head", at_least(0));
  f("block_size", block_size, "tokens that the model sees at once", at_least(1));
  f("batch_size", batch_size, "blocks in a step", at_least(1));
  f("warmup_iters", warmup_iters, "warm-up steps before the constant rate", at_least(0));
  f("weight_decay", weight_decay, "AdamW's decay of tensors of two or more dimensions", at_least(0));
  f("embedding_std", embedding_std, "std of the embedding's initial values", above(0));
  f("init_std", init_std, "std of every other matrix's; branches end with it / sqrt(2 layers)", above(0));
  f("eval_iters", eval_iters, "validation batches, and tuning batches, the same for all models and seeds",
    at_least(1));
}

LmConfig TinyConfig::training(int64_t n_embd, int64_t n_layer, int64_t steps, double learning_rate) const {
  LmConfig config;
  config.corpus = corpus;
  config.n_layer = n_layer;
  config.n_head = n_head;
  config.n_kv_head = n_kv_head;
  config.n_embd = n_embd;
  config.block_size = block_size;
  config.tie_embeddings = false;  // an embedding of std 1 would make an output matrix of std 1
  config.batch_size = batch_size;
  config.max_iters = steps;
  config.learning_rate = config.min_lr = learning_rate;
  config.warmup_iters = warmup_iters;
  config.beta2 = 0.95;
  config.weight_decay = weight_decay;
  config.eval_iters = eval_iters;
  return config;
}

LanguageModelConfig TinyConfig::model(const LmConfig& training, int64_t vocabulary) const {
  LanguageModelConfig config = training.model(vocabulary);
  config.embedding_std = embedding_std;
  config.init_std = init_std;
  return config;
}

TinyText::TinyText(Corpus opened, int64_t block_size, int64_t train_tokens)
    : corpus(std::move(opened)),
      train(first(corpus.text.train(), train_tokens), block_size, "training part"),
      tuning(first_half(corpus.text.validation()), block_size, "first half of the validation part"),
      validation(second_half(corpus.text.validation()), block_size, "second half of the validation part") {}

double TinyText::unigram_loss() const {
  // Each count begins at 1, so that no token is impossible.
  std::vector<double> counts(static_cast<size_t>(vocab_size()), 1);
  double total = static_cast<double>(vocab_size());
  for (const int32_t token : corpus.text.train()) {
    counts[static_cast<size_t>(token)] += 1;
    total += 1;
  }
  double loss = 0;
  const std::span<const int32_t> reported = second_half(corpus.text.validation());
  for (const int32_t token : reported) loss -= std::log(counts[static_cast<size_t>(token)] / total);
  return loss / static_cast<double>(reported.size());
}

double gain_of(LanguageModel& model, const LmConfig& training, const TinyText& text, const Rng& rng) {
  AdamW optimizer(decay_matrices_only(model), adam_w_options(training));
  const Schedule schedule = schedule_of(training);
  for (int64_t step = 0; step < training.max_iters; ++step) {
    const Batch batch = text.train.random_batch(training.batch_size, rng.split("batch").split(step));
    const Gradients gradients = gradients_of(model, batch, rng.split("dropout").split(step));
    if (!gradients.finite()) return 0;
    optimizer.set_lr(schedule(step));
    optimizer.step(clipping(gradients.norm, training));
  }
  const double loss =
      mean_loss(model, text.validation, training.eval_iters, training.batch_size, Rng(0).split("validation"));
  return std::isfinite(loss) ? text.unigram_loss() - loss : 0;
}

Choices net_names() {
  Choices names;
  for (const std::string& placement : placement_names())
    for (const std::string& norm : norm_names())
      if (norm == "none" || has_norms(placement_from_name(placement)))
        names.push_back(placement + "." + norm);
  return names;
}

}  // namespace isobar
