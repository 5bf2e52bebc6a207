#include "trials.h"

namespace isobar {

LmConfig training_of(const TinyConfig& config, const Trial& trial) {
  LmConfig training = config.training(trial.width, trial.layers, trial.steps, trial.learning_rate);
  training.warmup_iters = trial.warmup;
  if (trial.placement == "ngpt") {
    training.weight_decay = 0;  // its weights are normalized instead
  } else {
    training.placement = trial.placement;
    training.norm = trial.norm;
  }
  training.check_together();
  return training;
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

}  // namespace isobar
