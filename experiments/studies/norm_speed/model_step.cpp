#include "model_step.h"

#include "../../../autograd/autograd.h"
#include "../../../core/parallel.h"
#include "../../../nn/lm/lm.h"
#include "../../../nn/nn.h"
#include "../../../optim/optim.h"
#include "timed.h"

namespace isobar::speed {
namespace {

constexpr int64_t layers = 4, heads = 4, width = 128, vocabulary = 256, batch = 8, length = 64, prompt = 48;

// Llama's block: RMSNorm or LayerNorm before each branch and at the end, rotary positions, SwiGLU.
class Training {
 public:
  Training(const char* norm, uint64_t seed)
      : model_({.vocab_size = vocabulary,
                .block_size = length,
                .n_layer = layers,
                .n_head = heads,
                .n_embd = width,
                .norm = norm},
               Rng(seed).split("model")),
        optimizer_(parameters(model_), {.lr = 1e-3}),
        tokens_(Rng(seed).split("tokens").integers({batch, length}, vocabulary)) {}

  void step() {
    {
      Tape tape;
      tape.backward(model_.loss(tokens_, tokens_));
    }
    optimizer_.step();
  }
  // Reads a prompt, then token by token, with the keys and values that it keeps; (B, 1) tokens a time.
  void infer() {
    KeyValueCache cache;
    model_(slice(tokens_, 1, 0, prompt), cache);
    for (int64_t t = prompt; t < length; ++t) model_(slice(tokens_, 1, t, t + 1), cache);
  }
  double parameter_numbers() { return static_cast<double>(parameter_count(model_)); }

 private:
  LanguageModel model_;
  AdamW optimizer_;
  Tensor tokens_;  // (B, T); the time of a step does not depend on them
};

std::vector<Step> steps_of_models(uint64_t seed) {
  std::vector<Step> steps;
  for (const char* norm : {"layernorm", "rmsnorm"}) {
    const auto training = std::make_shared<Training>(norm, seed),
               inference = std::make_shared<Training>(norm, seed);
    steps.push_back([training] { training->step(); });
    steps.push_back([inference] { inference->infer(); });
  }
  return steps;
}

double saved_percent(double with, double without) { return 100 * (1 - without / with); }

// Of the second step, where AdamW's moments are there. On one thread: each further one keeps scratch memory.
ModelStep::Cost cost_of(const char* norm, uint64_t seed) {
  const WithThreads one(1);
  const size_t before = memory::stats().bytes_in_use;
  Training training(norm, seed);
  training.step();
  memory::reset_peak();
  training.step();
  const auto bytes = static_cast<double>(memory::stats().peak_bytes - before);
  return {.parameters = training.parameter_numbers(), .peak_mib = bytes / (1 << 20)};
}

}  // namespace

ModelStep::ModelStep(uint64_t seed, double turn_seconds)
    : layernorm(cost_of("layernorm", seed)),
      rmsnorm(cost_of("rmsnorm", seed)),
      rounds(steps_of_models(seed), turn_seconds) {}

void ModelStep::publish(Run& run) const {
  const Spread quotient = spread_of(step_quotients()), inference = spread_of(inference_quotients());
  const std::string size = fmt::format(
      "{} layers of {} channels, {} heads, {} tokens in the vocabulary, {} x {} "
      "tokens a step, f32, AdamW",
      layers, width, heads, vocabulary, batch, length);
  run.summary()["model"] = size;
  run.measured("model.step.layernorm_over_rmsnorm.best", quotient);
  run.measured("model.inference.layernorm_over_rmsnorm.best", inference);
  run.measured("model.parameters.saved_percent", saved_percent(layernorm.parameters, rmsnorm.parameters),
               saved_percent(layernorm.parameters,
                             layernorm.parameters - static_cast<double>((2 * layers + 1) * width)));
  run.measured("model.peak_mib.layernorm", layernorm.peak_mib);
  run.measured("model.peak_mib.rmsnorm", rmsnorm.peak_mib);
  run.measured("model.peak_mib.saved_percent", saved_percent(layernorm.peak_mib, rmsnorm.peak_mib));
  for (size_t i = 0; i < 4; ++i) {
    const char *norm = i < 2 ? "layernorm" : "rmsnorm", *what = i % 2 == 0 ? "step" : "inference";
    const std::vector<double>& seconds = rounds.seconds()[i];
    run.timing()["tokens_per_second"][what][norm] =
        static_cast<double>(batch * length) / spread_of(seconds).min;
    run.record(fmt::format("model.{}.{}", what, norm), seconds);
  }
  run.say(
      "\nA whole model ({}):\nLayerNorm takes {} times RMSNorm's time for a training step, {}\n"
      "times to read {} tokens and generate {}; its tensors {:.3f} MiB, RMSNorm's {:.3f}.\n\n",
      size, range_text(quotient, 3), range_text(inference, 3), prompt, length - prompt, layernorm.peak_mib,
      rmsnorm.peak_mib);
}

}  // namespace isobar::speed
