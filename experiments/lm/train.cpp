#include "train.h"

#include "../../autograd/tape.h"

namespace isobar {

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

WarmupCosine schedule_of(const LmConfig& config) {
  return {.lr = config.learning_rate,
          .min_lr = config.min_lr,
          .warmup = config.warmup_iters,
          .steps = config.max_iters};
}

Gradients gradients_of(Module& model, const Batch& batch, const Rng& key) {
  double loss;
  {
    Tape tape({.key = key});
    const Tensor mean_loss = cross_entropy(model(batch.x), batch.y);
    tape.backward(mean_loss);
    loss = mean_loss.item();
  }
  return {.loss = loss, .norm = grad_norm(parameters(model))};
}

double clipping(double norm, const LmConfig& config) {
  return config.grad_clip > 0 ? clip_factor(norm, config.grad_clip) : 1;
}

}  // namespace isobar
