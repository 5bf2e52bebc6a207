#include "train.h"

#include <limits>

#include "../../nn/model.h"
#include "../../nn/pieces.h"
#include "evaluate.h"

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
  const Share mine = shards.ranks().share(pieces);
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

}  // namespace isobar
