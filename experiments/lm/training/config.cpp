#include "config.h"

namespace isobar {
namespace {

// Warm-up: a tenth of the steps. Decay of WSD: a fifth. Neither more than the other leaves.
void fit_schedule(LmConfig& c, GivingWay& way) {
  const bool wsd = c.schedule == "wsd";
  const int64_t kept = wsd && way.given("decay_iters") ? c.decay_iters : 0;
  if (!way.given("warmup_iters") && c.warmup_iters + kept > c.max_iters && kept <= c.max_iters)
    way.change("warmup_iters", c.warmup_iters, std::min(c.max_iters / 10, c.max_iters - kept), "max_iters",
               c.max_iters);
  if (wsd && !way.given("decay_iters") && c.warmup_iters + c.decay_iters > c.max_iters &&
      c.warmup_iters <= c.max_iters)
    way.change("decay_iters", c.decay_iters, std::min((c.max_iters + 4) / 5, c.max_iters - c.warmup_iters),
               "max_iters", c.max_iters);
  if (!way.given("min_lr") && c.min_lr > c.learning_rate)
    way.change("min_lr", c.min_lr, c.learning_rate / 10, "learning_rate", c.learning_rate);
}

// Heads that divide the width, evenly for RoPE.
void fit_heads(LmConfig& c, GivingWay& way) {
  if (c.n_head < 1 || c.n_embd < 1) return;
  const int64_t unit = c.positions == "rope" ? 2 : 1;
  const auto fits = [&](int64_t heads) { return c.n_embd % (unit * heads) == 0; };
  if (way.given("n_embd") && !way.given("n_head") && !fits(c.n_head)) {
    int64_t heads = c.n_head;
    while (heads > 1 && !fits(heads)) --heads;
    way.change("n_head", c.n_head, heads, "n_embd", c.n_embd);
  }
  if (way.given("n_head") && !way.given("n_embd") && !fits(c.n_head)) {
    const int64_t width = unit * c.n_head;
    way.change("n_embd", c.n_embd, (c.n_embd + width - 1) / width * width, "n_head", c.n_head);
  }
  fit_kv_heads(c.n_kv_head, c.n_head, way);
}

}  // namespace

void LmConfig::fields(Fields& f) {
  f("corpus", corpus,
    "text, token store of isobar prepare or 'synthetic'; empty: Tiny Shakespeare, else 'synthetic'");
  f("as_is", as_is, "no warning of a corpus that hardly is a text in UTF-8");
  f("tokenizer", tokenizer, "char, byte or a tokenizer.json; empty: char, or what a token store brings");
  f("init_from", init_from,
    "checkpoint, run's folder or model.safetensors whose weights and tokenizer training begins with");
  f("vocab_size", vocab_size, "symbols of the model, at least the tokenizer's (0: just those)", at_least(0));
  f("n_layer", n_layer, "blocks", at_least(1));
  f("n_head", n_head, "query heads", at_least(1));
  f("n_kv_head", n_kv_head, "key/value heads; divides n_head (0: n_head)", at_least(0));
  f("n_embd", n_embd, "width of the residual stream", at_least(1));
  f("block_size", block_size, "tokens that the model sees at once", at_least(1));
  f("norm", norm, "normalization", norm_names());
  f("norm_eps", norm_eps, "eps of the norms that have one", at_least(0));
  f("alpha", alpha,
    "first alpha of dyt and derf, 1/rho of dyt_sqrtd, C of dyisru, for registered norms to use; below zero: "
    "0.5, 1, n_embd, the norm's own");
  f("placement", placement, "of the norm in each branch, or what replaces it", placement_names());
  f("ffn", ffn, "feed-forward part", {"swiglu", "gelu", "gelu_tanh", "relu", "relu2"});
  f("hidden", hidden, "width of the feed-forward part (0: 8/3 n_embd in whole 64s for swiglu, else 4 n_embd)",
    at_least(0));
  f("positions", positions, "how the model knows positions", {"rope", "learned"});
  f("rope_base", rope_base, "base of the angles of RoPE", above(0));
  f("qk_norm", qk_norm, "RMSNorm on queries and keys");
  f("softcap", softcap, "bound on attention logits, cap · tanh(logits / cap); 0: none", at_least(0));
  f("zero_init", zero_init, "branches and an untied output matrix start at zero");
  f("tie_embeddings", tie_embeddings, "one matrix for embedding and output");
  f("bias", bias, "biases in linear layers and norms");
  f("dropout", dropout, "probability of a zero on the embedding and each branch", from_to_below(0, 1));
  f("batch_size", batch_size, "blocks that go forward and back together", at_least(1));
  f("gradient_accumulation_steps", gradient_accumulation_steps,
    "batches in a step, one after the other; gradients and loss are their means", at_least(1));
  f("max_iters", max_iters, "steps", at_least(1));
  f("optimizer", optimizer, "what moves the matrices inside blocks; all else has AdamW", {"adamw", "muon"});
  f("muon_lr", muon_lr, "highest learning rate of Muon", at_least(0));
  f("muon_momentum", muon_momentum, "Muon's momentum", from_to_below(0, 1));
  f("schedule", schedule, "of the learning rates, after the warm-up", {"cosine", "linear", "wsd"});
  f("decay_iters", decay_iters, "last steps in which --schedule wsd falls", at_least(0));
  f("learning_rate", learning_rate, "highest learning rate of AdamW", at_least(0));
  f("min_lr", min_lr, "learning rate at the end of the schedule", at_least(0));
  f("warmup_iters", warmup_iters, "steps of linear warm-up", at_least(0));
  f("beta1", beta1, "AdamW's decay of the mean gradient", from_to_below(0, 1));
  f("beta2", beta2, "AdamW's decay of the mean squared gradient", from_to_below(0, 1));
  f("weight_decay", weight_decay, "decay of matrices, by either optimizer", at_least(0));
  f("decay_embeddings", decay_embeddings, "weight decay for embeddings and an untied output matrix too");
  f("grad_clip", grad_clip, "bound on the norm of all gradients; 0: none", at_least(0));
  f("on_nan", on_nan, "what a loss or gradient that is not finite does: end the run, or drop the step",
    {"stop", "skip"});
  f("anomaly", anomaly, "check the result of every op, forward and backward, at every step");
  f("products", products,
    "what multiplies matrices: own (bit-identical on every CPU) or openblas (its result depends on the CPU)",
    {"own", "openblas"});
  f("eval_interval", eval_interval, "steps between evaluations", at_least(1));
  f("eval_iters", eval_iters, "batches in an evaluation (in the last one up to 200)", at_least(1));
  f("patience", patience,
    "stop after so many evaluations in a row that did not lower the validation loss (0: never)", at_least(0));
  f("log_interval", log_interval, "steps between two log steps, at which every module is measured",
    at_least(1));
  f("checkpoint_interval", checkpoint_interval, "steps between checkpoints (0: only at the end)",
    at_least(0));
  f("seeds", seeds, "trainings with seeds one after the other, each in a folder of its own below DIR",
    at_least(1));
  f("keep", keep, "checkpoints that are kept besides the best", at_least(1));
}

void LmConfig::check_together() const {
  check(optimizer != "muon" || learning_rate > 0,
        "--learning_rate: wanted more than 0 with --optimizer muon, whose rate keeps its ratio to it, got {}",
        learning_rate);
  check(min_lr <= learning_rate, "--min_lr: wanted at most learning_rate ({}), got {}; lower it too",
        learning_rate, min_lr);
  check(warmup_iters <= max_iters, "--warmup_iters: wanted at most max_iters ({}), got {}", max_iters,
        warmup_iters);
  check(schedule != "wsd" || warmup_iters + decay_iters <= max_iters,
        "--decay_iters: wanted at most max_iters - warmup_iters ({}), got {}", max_iters - warmup_iters,
        decay_iters);
  check(patience == 0 || patience < (max_iters + eval_interval - 1) / eval_interval,
        "--patience: wanted less than the {} evaluations of {} steps, got {}; lower --eval_interval ({})",
        (max_iters + eval_interval - 1) / eval_interval, max_iters, patience, eval_interval);
  check(n_embd % n_head == 0, "--n_embd: wanted a multiple of n_head ({}), got {}", n_head, n_embd);
  check(n_kv_head == 0 || n_head % n_kv_head == 0, "--n_kv_head: wanted a divisor of n_head ({}), got {}",
        n_head, n_kv_head);
  check(positions != "rope" || n_embd / n_head % 2 == 0,
        "--n_embd: RoPE wants an even head width, got {} / {}", n_embd, n_head);
  check(norm == "none" || has_norms(placement_from_name(placement)),
        "--norm {} has no place in --placement {}, which does without norms; add --norm none", norm,
        placement);
  check(
      alpha < 0 || takes_alpha(norm),
      "--alpha has no meaning with --norm {}; drop it, or take dyt, dyt_sqrtd, dyisru, derf or a registered one",
      norm);
  check(alpha != 0 || norm != "dyisru", "--alpha: C of dyisru must be above 0");
}

LanguageModelConfig LmConfig::model(int64_t tokens) const {
  check(vocab_size == 0 || vocab_size >= tokens,
        "--vocab_size: wanted at least the {} tokens of the tokenizer, got {}", tokens, vocab_size);
  return {.vocab_size = vocab_size > 0 ? vocab_size : tokens,
          .block_size = block_size,
          .n_layer = n_layer,
          .n_head = n_head,
          .n_kv_head = n_kv_head,
          .n_embd = n_embd,
          .positions = positions == "rope" ? Positions::rope : Positions::learned,
          .rope_base = rope_base,
          .norm = norm,
          .norm_options = {.eps = norm_eps,
                           .bias = bias,
                           .alpha = alpha < 0 ? std::nullopt : std::optional(alpha)},
          .placement = placement_from_name(placement),
          .ffn = ffn,
          .hidden = hidden,
          .bias = bias,
          .qk_norm = qk_norm,
          .softcap = softcap,
          .tie_embeddings = tie_embeddings,
          .dropout = dropout,
          .zero_init = zero_init};
}

void fit_kv_heads(int64_t& n_kv_head, int64_t n_head, GivingWay& way) {
  if (!way.given("n_kv_head") && n_kv_head > 0 && n_head % n_kv_head != 0)
    way.change("n_kv_head", n_kv_head, n_head, "n_head", n_head);
}

std::vector<std::string> give_way(LmConfig& config, const std::set<std::string>& given) {
  GivingWay way(given);
  fit_schedule(config, way);
  fit_heads(config, way);
  return way.said;
}

}  // namespace isobar
