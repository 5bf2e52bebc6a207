#include "trial.h"

#include <chrono>
#include <limits>
#include <optional>

#include "../../core/memory.h"
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
  const Rng rng(static_cast<uint64_t>(seed)), judge = Rng(0).split("validation");
  const std::unique_ptr<Module> made =
      model_of(config.model(training, text.vocab_size()), trial, rng.split("model"));
  Module& model = *made;
  AdamW optimizer(decay_matrices_only(model), adam_w_options(training));
  const Schedule schedule = schedule_of(training);
  const auto judged = [&] {
    return mean_loss(model, text.validation, config.eval_iters, config.batch_size, judge);
  };

  TrialOutcome outcome{.parameters = parameter_count(model),
                       .start_loss = judged(),
                       .val_loss = std::numeric_limits<double>::infinity(),
                       .losses = {},
                       .start = {},
                       .end = unknown_stream(trial.layers),
                       .tokens_per_second = 0,
                       .peak_mib = 0};
  memory::reset_peak();
  const auto start = std::chrono::steady_clock::now();
  int64_t step = 0;
  for (; step < trial.steps; ++step) {
    Probe probe;
    std::optional<Watch> watching;
    if (step == 0 || step + 1 == trial.steps) watching.emplace(model, probe);
    const Batch batch = text.train.random_batch(config.batch_size, rng.split("batch").split(step));
    const Gradients gradients = gradients_of(model, batch, rng.split("dropout").split(step));
    if (step == 0) outcome.start = stream_of(probe);
    if (!gradients.finite()) break;
    outcome.losses.push_back(gradients.loss);
    if (step + 1 == trial.steps) outcome.end = stream_of(probe);
    optimizer.set_lr(schedule(step));
    optimizer.step(clipping(gradients.norm, training));
    if (auto* ngpt = dynamic_cast<NGPT*>(&model)) normalize_weights(*ngpt);
  }
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
  outcome.tokens_per_second =
      static_cast<double>(step * config.batch_size * config.block_size) / passed.count();
  outcome.peak_mib = static_cast<double>(memory::stats().peak_bytes) / (1 << 20);
  if (step == trial.steps) {
    const double loss = judged();
    if (std::isfinite(loss)) outcome.val_loss = loss;
  }
  return outcome;
}

}  // namespace isobar
