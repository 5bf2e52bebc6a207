// One step of a language model's training, in parts: each study writes its own loop around them.
// gain_of() in small_config.cpp is the shortest such loop.
#pragma once

#include "../../../core/ranks/ranks.h"
#include "../../../data/text.h"
#include "../../../optim/optim.h"
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
  // The batch goes forward and back in as many equal pieces, whose gradients are those of their mean loss.
  int64_t accumulation_steps = 1;
  // A result that is not finite ends the step at once; loss and norm are NaN then.
  bool check_every_op = false;
};

// Goes forward and back through a batch and leaves the gradients on the model. `rng` draws dropout's masks,
// for each piece others. Ranks share the pieces, and `batch` has the rows of this rank's. Throws Error where
// the batch cannot be cut into equal pieces.
struct Gradients {
  double loss;              // nats per token
  double norm;              // of all gradients together
  std::string bad_op = "";  // with check_every_op: the first op whose result is not finite
  bool finite() const { return std::isfinite(loss) && std::isfinite(norm); }
};
Gradients gradients_of(Module& model, const Batch& batch, const Rng& rng, const GradientOptions& options = {},
                       Ranks& ranks = Ranks::alone());

// What the optimizer multiplies gradients of this norm with.
double clipping(double norm, const LmConfig& config);

// --- The loss of a language model on fixed batches. (On a whole text: nn/lm/text_loss.h.)

// Cross-entropy in nats per token; LanguageModel::loss of a model that is one.
Tensor loss_of(Module& model, const Batch& batch);

// Mean cross-entropy in nats over `batches` random batches of `batch_size` blocks; the same ones for the same
// rng. The model is in evaluation meanwhile. Ranks share the batches.
double mean_loss(Module& model, const TokenDataset& data, int64_t batches, int64_t batch_size, const Rng& rng,
                 Ranks& ranks = Ranks::alone());

// --- LmOptimizer: train_lm's optimizer. With --optimizer adamw one AdamW moves all parameters; with muon the
// matrices inside the blocks have Muon, and embeddings, output matrix and vectors AdamW, each with its own
// rate on one schedule (Jordan et al. 2024, "Muon").
class LmOptimizer : public HasFields {
 public:
  // `model` must outlive it.
  LmOptimizer(LanguageModel& model, const LmConfig& config);

  // The rates that the schedule has for `step`.
  void set_rates(int64_t step);
  // Uses up the gradients, which count `factor` times.
  void step(double factor);
  // Throws the gradients away.
  void drop();
  // AdamW's rate.
  double lr() const { return adam_w_.lr(); }
  // The state of both, as "adam_w" and "muon".
  void fields(Fields& f) override;

 private:
  LanguageModel& model_;
  AdamW adam_w_;
  std::optional<Muon> muon_;
  Schedule adam_w_rate_, muon_rate_;
};

}  // namespace isobar
