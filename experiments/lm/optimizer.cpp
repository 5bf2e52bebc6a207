#include "optimizer.h"

#include <unordered_set>

#include "../../nn/model.h"

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

// What AdamW moves. Weight decay is for matrices, and for embeddings where --decay_embeddings says so (an
// untied output matrix counts as one); norms and biases would only be pulled to zero.
std::vector<ParameterGroup> adam_w_groups(LanguageModel& model, const LmConfig& config) {
  std::unordered_set<const void*> hidden;
  for (const Tensor& matrix : hidden_matrices(model)) hidden.insert(matrix.id());
  ParameterGroup decayed, rest{.parameters = {}, .weight_decay = 0.0};
  for (const Tensor& p : parameters(model)) {
    const bool inside = hidden.contains(p.id());
    if (inside && config.optimizer == "muon") continue;
    (inside || (p.ndim() >= 2 && config.decay_embeddings) ? decayed : rest).parameters.push_back(p);
  }
  return {decayed, rest};
}

}  // namespace

LmOptimizer::LmOptimizer(LanguageModel& model, const LmConfig& config)
    : adam_w_(adam_w_groups(model, config), adam_w_options(config)),
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

void LmOptimizer::fields(Fields& f) {
  f("adam_w", adam_w_);
  if (muon_) f("muon", *muon_);
}

}  // namespace isobar
