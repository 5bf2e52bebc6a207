// One step of a language model's training, in parts: each study writes its own loop around them.
//
//   AdamW optimizer(decay_matrices_only(model), adam_w_options(config));
//   const Schedule schedule = schedule_of(config);
//   for (int64_t step = 0; step < config.max_iters; ++step) {
//     const Gradients gradients = gradients_of(model, train_set.random_batch(…), rng.split(step));
//     optimizer.set_lr(schedule(step));
//     optimizer.step(clipping(gradients.norm, config));
//   }
#pragma once

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "../../data/dataset.h"
#include "../../optim/optim.h"
#include "config.h"

namespace isobar {

// Weight decay is for matrices: gains and biases would only be pulled to zero.
std::vector<ParameterGroup> decay_matrices_only(Module& model);
AdamWOptions adam_w_options(const LmConfig& config);
// --schedule with its warm-up, up to `lr` and down to the share of it that min_lr is of learning_rate.
using Schedule = std::function<double(int64_t step)>;
Schedule schedule_of(const LmConfig& config, double lr);
inline Schedule schedule_of(const LmConfig& config) { return schedule_of(config, config.learning_rate); }

struct GradientOptions {
  // The batch goes forward and back in as many equal pieces, whose gradients add up to those of their mean
  // loss.
  int64_t accumulation_steps = 1;
  // A result that is not finite ends the step at once; loss and norm are NaN then.
  bool check_every_op = false;
};

// Goes forward and back through a batch and leaves the gradients on the model. `rng` draws dropout's masks,
// for each piece others. Throws Error where the batch cannot be cut into equal pieces.
struct Gradients {
  double loss;              // nats per token
  double norm;              // of all gradients together
  std::string bad_op = "";  // with check_every_op: the first op whose result is not finite
  bool finite() const { return std::isfinite(loss) && std::isfinite(norm); }
};
Gradients gradients_of(Module& model, const Batch& batch, const Rng& rng, GradientOptions options = {});
// The same over ranks: `batch` has the rows of this rank's share of the pieces, and shards.mine() get the gradients.
Gradients gradients_of(Module& model, const Batch& batch, const Rng& rng, const GradientOptions& options,
                       Shards& shards);

// What the optimizer multiplies gradients of this norm with.
double clipping(double norm, const LmConfig& config);

}  // namespace isobar
