#include "trial.h"

#include <cmath>
#include <limits>
#include <optional>

#include "../../nn/model.h"
#include "../../nn/ngpt.h"
#include "../../nn/observe.h"
#include "evaluate.h"
#include "train.h"

namespace isobar {
namespace {

Stream stream_of(const Probe& probe) {
  Stream stream;
  for (const ModuleSignal& m : probe.signals()) {
    if (m.type != "TransformerBlock" && m.type != "NGPTBlock") continue;
    stream.std.push_back(m.output.std);
    stream.rms.push_back(m.output.rms);
    stream.gradient_norm.push_back(m.gradient_norm);
  }
  return stream;
}

Stream unknown_stream(int64_t layers) {
  const std::vector<double> unknown(static_cast<size_t>(layers), std::numeric_limits<double>::quiet_NaN());
  return {unknown, unknown, unknown};
}

std::unique_ptr<Module> model_of(const LanguageModelConfig& config, const Trial& trial, const Rng& rng) {
  if (trial.placement != "ngpt") return std::make_unique<LanguageModel>(config, rng);
  return std::make_unique<NGPT>(NGPTConfig{.vocab_size = config.vocab_size,
                                           .block_size = config.block_size,
                                           .n_layer = config.n_layer,
                                           .n_head = config.n_head,
                                           .n_embd = config.n_embd},
                                rng);
}

}  // namespace

LmConfig training_of(const TinyConfig& config, const Trial& trial) {
  LmConfig training = config.training(trial.width, trial.layers, trial.steps, trial.learning_rate);
  training.warmup_iters = trial.warmup;
  if (trial.placement == "ngpt") {
    training.weight_decay = 0;  // its weights are normalized instead
  } else {
    training.placement = trial.placement;
    training.norm = trial.norm;
  }
  training.check_values();
  return training;
}

TrialOutcome train_trial(const TinyConfig& config, const TinyText& text, const Trial& trial, int64_t seed) {
  const LmConfig training = training_of(config, trial);
  const Rng rng(static_cast<uint64_t>(seed));
  const std::unique_ptr<Module> made =
      model_of(config.model(training, text.vocab_size()), trial, rng.split("model"));
  Module& model = *made;
  AdamW optimizer(decay_matrices_only(model), adam_w_options(training));
  const Schedule schedule = schedule_of(training);
  const auto loss_on = [&](const TokenDataset& data, const char* stream) {
    const double loss = mean_loss(model, data, config.eval_iters, config.batch_size, Rng(0).split(stream));
    return std::isfinite(loss) ? loss : std::numeric_limits<double>::infinity();
  };

  constexpr double unknown_loss = std::numeric_limits<double>::infinity();
  TrialOutcome outcome{.parameters = parameter_count(model),
                       .start_loss = loss_on(text.validation, "validation"),
                       .tuning_loss = unknown_loss,
                       .val_loss = unknown_loss,
                       .losses = {},
                       .start = {},
                       .end = unknown_stream(trial.layers),
                       .lengths = {}};
  auto* const ngpt = dynamic_cast<NGPT*>(&model);
  int64_t step = 0;
  for (; step < trial.steps; ++step) {
    Probe probe;
    std::optional<Watch> watching;
    if (step == 0 || step + 1 == trial.steps) watching.emplace(model, probe);
    const Batch batch = text.train.random_batch(config.batch_size, rng.split("batch").split(step));
    const Gradients gradients = gradients_of(model, batch, rng.split("dropout").split(step));
    if (step == 0) outcome.start = stream_of(probe);
    if (!gradients.finite()) return outcome;
    outcome.losses.push_back(gradients.loss);
    if (step + 1 == trial.steps) outcome.end = stream_of(probe);
    optimizer.set_lr(schedule(step));
    optimizer.step(clipping(gradients.norm, training));
    if (ngpt != nullptr) normalize_weights(*ngpt);
  }
  outcome.tuning_loss = loss_on(text.tuning, "tuning");
  outcome.val_loss = loss_on(text.validation, "validation");
  if (ngpt != nullptr)
    outcome.lengths =
        length_errors(*ngpt, text.validation.random_batch(config.batch_size, Rng(0).split("lengths")).x);
  return outcome;
}

}  // namespace isobar
