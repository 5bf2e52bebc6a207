#include "train.h"

#include <unordered_set>

#include "../../../core/profile.h"
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

// The parameters' numbers that AdamW has: those whose weight decays first: matrices and, with
// --decay_embeddings, embeddings and an untied output matrix; norms and biases would only be pulled to zero.
struct OfAdamW {
  std::vector<size_t> decayed, rest;
};
OfAdamW of_adam_w(LanguageModel& model, const std::vector<Tensor>& parameters, const LmConfig& config) {
  std::unordered_set<const void*> hidden;
  for (const Tensor& matrix : hidden_matrices(model)) hidden.insert(matrix.id());
  OfAdamW mine;
  for (size_t i = 0; i < parameters.size(); ++i) {
    const bool inside = hidden.contains(parameters[i].id());
    if (inside && config.optimizer == "muon") continue;
    const bool decays = inside || (parameters[i].ndim() >= 2 && config.decay_embeddings);
    (decays ? mine.decayed : mine.rest).push_back(i);
  }
  return mine;
}

std::vector<Tensor> parts(const Shards& shards, const std::vector<size_t>& numbers) {
  std::vector<Tensor> tensors;
  for (const size_t i : numbers) tensors.push_back(shards.mine()[i]);
  return tensors;
}

std::vector<ParameterGroup> adam_w_groups(LanguageModel& model, const Shards& shards,
                                          const LmConfig& config) {
  const OfAdamW of = of_adam_w(model, shards.parameters(), config);
  return {{.parameters = parts(shards, of.decayed)},
          {.parameters = parts(shards, of.rest), .weight_decay = 0.0}};
}

std::vector<Tensor> muon_matrices(LanguageModel& model, const LmConfig& config) {
  return config.optimizer == "muon" ? hidden_matrices(model) : std::vector<Tensor>();
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

Gradients gradients_of(Module& model, const Batch& batch, const Rng& rng, GradientOptions options) {
  Shards whole(parameters(model));
  return gradients_of(model, batch, rng, options, whole);
}

Gradients gradients_of(Module& model, const Batch& batch, const Rng& rng, const GradientOptions& options,
                       Shards& shards) {
  const int64_t pieces = options.accumulation_steps;
  const IndexRange mine = shards.ranks().share(pieces);
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
             model, pieces, loss_of_piece, {.detect_anomaly = options.check_every_op, .rng = rng}, shards))
      loss += of_piece / static_cast<double>(pieces);
  } catch (const NotFinite& error) {
    const double unknown = std::numeric_limits<double>::quiet_NaN();
    return {.loss = unknown, .norm = unknown, .bad_op = error.what()};
  }
  return {.loss = loss, .norm = grad_norm(shards)};
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

LmOptimizer::LmOptimizer(LanguageModel& model, const LmConfig& config, Ranks& ranks)
    : shards_(parameters(model), ranks, muon_matrices(model, config)),
      adam_w_(adam_w_groups(model, shards_, config), adam_w_options(config)),
      adam_w_rate_(schedule_of(config)),
      muon_rate_(schedule_of(config, config.muon_lr)) {
  const OfAdamW of = of_adam_w(model, shards_.parameters(), config);
  in_adam_w_ = of.decayed;
  in_adam_w_.insert(in_adam_w_.end(), of.rest.begin(), of.rest.end());
  if (config.optimizer != "muon") return;
  for (const Tensor& matrix : hidden_matrices(model))
    in_muon_.push_back(std::ranges::find(shards_.parameters(), matrix.id(), &Tensor::id) -
                       shards_.parameters().begin());
  muon_.emplace(parts(shards_, in_muon_),
                MuonOptions{.momentum = config.muon_momentum, .weight_decay = config.weight_decay});
}

void LmOptimizer::set_rates(int64_t step) {
  adam_w_.set_lr(adam_w_rate_(step));
  if (muon_) muon_->set_lr(muon_rate_(step));
}

void LmOptimizer::step(double factor) {
  adam_w_.step(factor);
  if (muon_) muon_->step(factor);
  shards_.spread();
  shards_.clear_gradients();
}

void LmOptimizer::drop() {
  clear_gradients(shards_.mine());
  clear_gradients(shards_.parameters());
}

void LmOptimizer::fields(Fields& f) {
  f("adam_w", adam_w_);
  if (muon_) f("muon", *muon_);
}

// An optimizer's state is its counts of steps, then for each parameter as many tensors.
std::vector<std::optional<size_t>> LmOptimizer::parameters_of(const std::vector<NamedTensor>& state) const {
  std::vector<std::optional<size_t>> of;
  for (const auto& [name, tensor] : state) {
    of.emplace_back();
    const std::string own = name.substr(name.find('.') + 1);  // "3.first_moment"
    if (own != "steps") of.back() = (name.starts_with("muon.") ? in_muon_ : in_adam_w_)[std::stoul(own)];
  }
  return of;
}

std::vector<NamedTensor> LmOptimizer::whole_state() {
  std::vector<NamedTensor> state = named_state(*this);
  const std::vector<std::optional<size_t>> of = parameters_of(state);
  std::vector<Tensor> cut;
  std::vector<size_t> like;
  for (size_t k = 0; k < state.size(); ++k)
    if (of[k]) {
      cut.push_back(state[k].tensor);
      like.push_back(*of[k]);
    }
  const std::vector<Tensor> whole = shards_.collect(cut, like);
  for (size_t k = 0, next = 0; k < state.size(); ++k)
    if (of[k]) state[k].tensor = whole[next++];
  return state;
}

void LmOptimizer::load(const std::vector<NamedTensor>& whole) {
  std::vector<NamedTensor> state = whole;
  const std::vector<NamedTensor> mine = named_state(*this);
  const std::vector<std::optional<size_t>> of = parameters_of(mine);
  for (size_t k = 0; k < mine.size(); ++k)
    for (NamedTensor& one : state)
      if (of[k] && one.name == mine[k].name) one.tensor = shards_.part(*of[k], one.tensor);
  load_state(*this, state);
}

}  // namespace isobar
