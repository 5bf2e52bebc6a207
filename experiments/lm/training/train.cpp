#include "train.h"

#include <unordered_set>

#include "../../../core/phase.h"
#include "../../../nn/model.h"
#include "../../../nn/pieces.h"

namespace isobar {
namespace {

// The weights of all linear layers inside blocks.
std::vector<Tensor> hidden_matrices(LanguageModel& model) {
  std::vector<Tensor> matrices;
  for (TransformerBlock& block : model.blocks)
    for (const NamedModule& part : named_modules(block))
      if (const auto* linear = dynamic_cast<Linear*>(part.module)) matrices.push_back(linear->weight);
  return matrices;
}

// The parameters that AdamW has. First those whose weight decays: matrices and, with --decay_embeddings,
// embeddings and an untied output matrix; norms and biases would only be pulled to zero.
std::vector<ParameterGroup> adam_w_groups(LanguageModel& model, const LmConfig& config) {
  std::unordered_set<const void*> hidden;
  for (const Tensor& matrix : hidden_matrices(model)) hidden.insert(matrix.id());
  ParameterGroup decayed, rest{.parameters = {}, .weight_decay = 0.0};
  for (const Tensor& parameter : parameters(model)) {
    const bool inside = hidden.contains(parameter.id());
    if (inside && config.optimizer == "muon") continue;
    const bool decays = inside || (parameter.ndim() >= 2 && config.decay_embeddings);
    (decays ? decayed : rest).parameters.push_back(parameter);
  }
  return {decayed, rest};
}

}  // namespace

std::vector<ParameterGroup> decay_matrices_only(Module& model) {
  ParameterGroup matrices, vectors{.parameters = {}, .weight_decay = 0.0};
  for (const Tensor& p : parameters(model)) (p.ndim() >= 2 ? matrices : vectors).parameters.push_back(p);
  std::vector<ParameterGroup> groups{matrices};
  if (!vectors.parameters.empty()) groups.push_back(vectors);
  return groups;
}

AdamWOptions adam_w_options(const LmConfig& config) {
  return {.lr = config.learning_rate,
          .beta1 = config.beta1,
          .beta2 = config.beta2,
          .weight_decay = config.weight_decay};
}

Schedule schedule_of(const LmConfig& config, double lr) {
  const double min_lr =
      lr == config.learning_rate ? config.min_lr : lr * (config.min_lr / config.learning_rate);
  const int64_t warmup = config.warmup_iters, steps = config.max_iters;
  if (config.schedule == "cosine")
    return WarmupCosine{.lr = lr, .min_lr = min_lr, .warmup = warmup, .steps = steps};
  const int64_t decay = config.schedule == "wsd" ? config.decay_iters : steps - warmup;
  return WarmupStableDecay{.lr = lr, .min_lr = min_lr, .warmup = warmup, .decay = decay, .steps = steps};
}

Gradients gradients_of(Module& model, const Batch& batch, const Rng& rng, const GradientOptions& options,
                       Ranks& ranks) {
  const int64_t pieces = options.accumulation_steps;
  const IndexRange mine = ranks.share(pieces);
  const int64_t rows = mine.size() > 0 ? batch.x.size(0) / mine.size() : 0;
  check(rows * mine.size() == batch.x.size(0), "gradients_of: wanted {} equal pieces of a batch, got {} rows",
        mine.size(), batch.x.size(0));
  if (options.check_every_op) assign_paths(model);
  const auto loss_of_piece = [&](int64_t i) {
    const int64_t first = (i - mine.begin) * rows;
    const auto piece = [&](const Tensor& all) { return slice(all, 0, first, first + rows); };
    return loss_of(model, {piece(batch.x), piece(batch.y)});
  };
  double loss = 0;
  try {
    for (const double of_piece : backward_in_pieces(
             model, pieces, loss_of_piece, {.detect_anomaly = options.check_every_op, .rng = rng}, ranks))
      loss += of_piece / static_cast<double>(pieces);
  } catch (const NotFinite& error) {
    const double unknown = std::numeric_limits<double>::quiet_NaN();
    return {.loss = unknown, .norm = unknown, .bad_op = error.what()};
  }
  return {.loss = loss, .norm = grad_norm(parameters(model))};
}

double clipping(double norm, const LmConfig& config) {
  return config.grad_clip > 0 ? clip_factor(norm, config.grad_clip) : 1;
}

Tensor loss_of(Module& model, const Batch& batch) {
  if (auto* language_model = dynamic_cast<LanguageModel*>(&model))
    return language_model->loss(batch.x, batch.y);
  return cross_entropy(model(batch.x), batch.y);
}

double mean_loss(Module& model, const TokenDataset& data, int64_t batches, int64_t batch_size, const Rng& rng,
                 Ranks& ranks) {
  const Phase phase("evaluation");
  const Evaluation here(model);
  std::vector<double> mine;
  for (int64_t i = ranks.share(batches).begin; i < ranks.share(batches).end; ++i)
    mine.push_back(loss_of(model, data.random_batch(batch_size, rng.split(i))).item());
  double total = 0;
  for (const double loss : ranks.gather(mine, batches)) total += loss;
  return total / static_cast<double>(batches);
}

LmOptimizer::LmOptimizer(LanguageModel& model, const LmConfig& config)
    : model_(model),
      adam_w_(adam_w_groups(model, config), adam_w_options(config)),
      adam_w_rate_(schedule_of(config)),
      muon_rate_(schedule_of(config, config.muon_lr)) {
  if (config.optimizer == "muon")
    muon_.emplace(hidden_matrices(model),
                  MuonOptions{.momentum = config.muon_momentum, .weight_decay = config.weight_decay});
}

void LmOptimizer::set_rates(int64_t step) {
  adam_w_.set_lr(adam_w_rate_(step));
  if (muon_) muon_->set_lr(muon_rate_(step));
}

void LmOptimizer::step(double factor) {
  adam_w_.step(factor);
  if (muon_) muon_->step(factor);
}

void LmOptimizer::drop() { clear_gradients(parameters(model_)); }

void LmOptimizer::fields(Fields& f) {
  f("adam_w", adam_w_);
  if (muon_) f("muon", *muon_);
}

}  // namespace isobar
