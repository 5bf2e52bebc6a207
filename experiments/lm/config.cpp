#include "config.h"

namespace isobar {

void LmConfig::fields(Fields& f) {
  f("corpus", corpus,
    "text, token store of isobar prepare or 'synthetic'; empty: Tiny Shakespeare, else 'synthetic'");
  f("tokenizer", tokenizer, "char, byte or a tokenizer.json; empty: char, or what a token store brings");
  f("init_from", init_from,
    "checkpoint, run's folder or model.safetensors whose weights and tokenizer training begins with");
  f("vocab_size", vocab_size, "symbols of the model, at least the tokenizer's (0: just those)");
  f("n_layer", n_layer, "blocks");
  f("n_head", n_head, "query heads");
  f("n_kv_head", n_kv_head, "key/value heads; divides n_head (0: n_head)");
  f("n_embd", n_embd, "width of the residual stream");
  f("block_size", block_size, "tokens that the model sees at once");
  f("norm", norm, "normalization", norm_names());
  f("norm_eps", norm_eps, "eps of the norms that have one");
  f("alpha", alpha,
    "first alpha of dyt and derf, 1/rho of dyt_sqrtd, C of dyisru, for registered norms to use; below zero: 0.5, 1, "
    "n_embd, the norm's own");
  f("placement", placement, "of the norm in each branch, or what replaces it", placement_names());
  f("ffn", ffn, "feed-forward part", {"swiglu", "gelu", "gelu_tanh", "relu", "relu2"});
  f("hidden", hidden,
    "width of the feed-forward part (0: 8/3 n_embd in whole 64s for swiglu, else 4 n_embd)");
  f("positions", positions, "how the model knows positions", {"rope", "learned"});
  f("rope_base", rope_base, "base of the angles of RoPE");
  f("qk_norm", qk_norm, "RMSNorm on queries and keys");
  f("softcap", softcap, "bound on attention logits, cap · tanh(logits / cap); 0: none");
  f("zero_init", zero_init, "branches and an untied output matrix start at zero");
  f("tie_embeddings", tie_embeddings, "one matrix for embedding and output");
  f("bias", bias, "biases in linear layers and norms");
  f("dropout", dropout, "probability of a zero on the embedding and each branch");
  f("batch_size", batch_size, "blocks that go forward and back together");
  f("gradient_accumulation_steps", gradient_accumulation_steps,
    "batches in a step, one after the other; gradients and loss are their means");
  f("activation_checkpointing", activation_checkpointing,
    "keep nothing of a block but its input, and compute it again in backward");
  f("max_iters", max_iters, "steps");
  f("optimizer", optimizer, "what moves the matrices inside blocks; all else has AdamW", {"adamw", "muon"});
  f("muon_lr", muon_lr, "highest learning rate of Muon");
  f("muon_momentum", muon_momentum, "Muon's momentum");
  f("schedule", schedule, "of the learning rates, after the warm-up", {"cosine", "linear", "wsd"});
  f("decay_iters", decay_iters, "last steps in which --schedule wsd falls");
  f("learning_rate", learning_rate, "highest learning rate of AdamW");
  f("min_lr", min_lr, "learning rate at the end of the schedule");
  f("warmup_iters", warmup_iters, "steps of linear warm-up");
  f("beta1", beta1, "AdamW's decay of the mean gradient");
  f("beta2", beta2, "AdamW's decay of the mean squared gradient");
  f("weight_decay", weight_decay, "decay of matrices, by either optimizer");
  f("decay_embeddings", decay_embeddings, "weight decay for embeddings and an untied output matrix too");
  f("grad_clip", grad_clip, "bound on the norm of all gradients; 0: none");
  f("precision", precision, "what matrix products multiply (sums, weights and moments stay f32)",
    {"f32", "bf16"});
  f("on_nan", on_nan, "what a loss or gradient that is not finite does: end the run, or drop the step",
    {"stop", "skip"});
  f("anomaly", anomaly, "check the result of every op, forward and backward, at every step");
  f("eval_interval", eval_interval, "steps between evaluations");
  f("eval_iters", eval_iters, "batches in an evaluation (in the last one up to 200)");
  f("log_interval", log_interval, "steps between two log steps, at which every module is measured");
  f("checkpoint_interval", checkpoint_interval, "steps between checkpoints (0: only at the end)");
  f("seeds", seeds, "trainings with seeds one after the other, each in a folder of its own below DIR");
  f("keep", keep, "checkpoints that are kept besides the best");
}

void LmConfig::apply_nanogpt_cpu() {
  n_layer = n_head = n_kv_head = 4;
  n_embd = 128;
  block_size = 64;
  batch_size = 12;
  max_iters = 2000;
  optimizer = "adamw";
  schedule = "cosine";
  learning_rate = 1e-3;
  min_lr = 1e-4;
  warmup_iters = 100;
  beta1 = 0.9;
  beta2 = 0.99;
  weight_decay = 0.1;
  decay_embeddings = true;
  grad_clip = 1;
  norm = "layernorm";
  placement = "pre";
  ffn = "gelu";
  positions = "learned";
  qk_norm = bias = zero_init = false;
  softcap = dropout = 0;
  tie_embeddings = true;
}

void LmConfig::apply_nanogpt_cpu_best() {
  apply_nanogpt_cpu();
  norm = "rmsnorm";
  positions = "rope";
  ffn = "relu2";
  qk_norm = zero_init = true;
  tie_embeddings = false;
  optimizer = "muon";
  muon_lr = 0.02;
  muon_momentum = 0.95;
  learning_rate = 5e-3;
  schedule = "linear";
  min_lr = weight_decay = 0;
}

// config/train_shakespeare_char.py of nanoGPT.
void LmConfig::apply_babygpt() {
  apply_nanogpt_cpu();
  vocab_size = 65;
  n_layer = n_head = n_kv_head = 6;
  n_embd = 384;
  block_size = 256;
  batch_size = 64;
  max_iters = 5000;
  dropout = 0.2;
}

// The sizes are those of source 003; rates and clipping those of MiniMind's trainer/train_pretrain.py, its
// batches of 32 × 8 cut to what two cores see in an hour or two.
void LmConfig::apply_minimind() {
  vocab_size = 6400;
  n_layer = n_head = 8;
  n_kv_head = 2;
  n_embd = block_size = 512;
  norm = "rmsnorm";
  norm_eps = 1e-5;
  placement = "pre";
  ffn = "swiglu";
  hidden = 1408;
  positions = "rope";
  rope_base = 1e6;
  qk_norm = bias = false;
  softcap = dropout = 0;
  tie_embeddings = true;
  batch_size = 8;
  max_iters = 1000;
  learning_rate = 5e-4;
  min_lr = 5e-5;
  warmup_iters = 50;
  beta2 = 0.95;
  grad_clip = 1;
}

void LmConfig::check_values() const {
  const auto at_least = [](const char* flag, auto value, auto least) {
    check(value >= least, "--{}: wanted at least {}, got {}", flag, least, value);
  };
  for (const auto& [flag, value] : {std::pair{"n_layer", n_layer},
                                    {"n_head", n_head},
                                    {"n_embd", n_embd},
                                    {"block_size", block_size},
                                    {"batch_size", batch_size},
                                    {"gradient_accumulation_steps", gradient_accumulation_steps},
                                    {"max_iters", max_iters},
                                    {"eval_interval", eval_interval},
                                    {"eval_iters", eval_iters},
                                    {"log_interval", log_interval},
                                    {"seeds", seeds},
                                    {"keep", keep}})
    at_least(flag, value, int64_t{1});
  at_least("n_kv_head", n_kv_head, int64_t{0});
  at_least("vocab_size", vocab_size, int64_t{0});
  at_least("hidden", hidden, int64_t{0});
  at_least("warmup_iters", warmup_iters, int64_t{0});
  at_least("checkpoint_interval", checkpoint_interval, int64_t{0});
  for (const auto& [flag, value] : {std::pair{"learning_rate", learning_rate},
                                    {"min_lr", min_lr},
                                    {"weight_decay", weight_decay},
                                    {"grad_clip", grad_clip},
                                    {"norm_eps", norm_eps},
                                    {"softcap", softcap}})
    at_least(flag, value, 0.0);
  at_least("muon_lr", muon_lr, 0.0);
  at_least("decay_iters", decay_iters, int64_t{0});
  check(muon_momentum >= 0 && muon_momentum < 1, "--muon_momentum: wanted at least 0 and less than 1, got {}",
        muon_momentum);
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
  check(n_embd % n_head == 0, "--n_embd: wanted a multiple of n_head ({}), got {}", n_head, n_embd);
  check(n_kv_head == 0 || n_head % n_kv_head == 0, "--n_kv_head: wanted a divisor of n_head ({}), got {}",
        n_head, n_kv_head);
  check(positions != "rope" || n_embd / n_head % 2 == 0,
        "--n_embd: RoPE wants an even head width, got {} / {}", n_embd, n_head);
  check(rope_base > 0, "--rope_base: wanted a number above 0, got {}", rope_base);
  check(norm == "none" || has_norms(placement_from_name(placement)),
        "--norm {} has no place in --placement {}, which does without norms; add --norm none", norm,
        placement);
  check(
      alpha < 0 || takes_alpha(norm),
      "--alpha has no meaning with --norm {}; drop it, or take dyt, dyt_sqrtd, dyisru, derf or a registered one",
      norm);
  check(alpha != 0 || norm != "dyisru", "--alpha: C of dyisru must be above 0");
  check(dropout >= 0 && dropout < 1, "--dropout: wanted a probability in [0, 1), got {}", dropout);
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
          .activation_checkpointing = activation_checkpointing,
          .zero_init = zero_init};
}

}  // namespace isobar
