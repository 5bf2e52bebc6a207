#include "training.h"

#include "../../nn/lm/lm.h"
#include "../../nn/nn.h"
#include "../lm/watching/saturation.h"
#include "../lm/watching/shape.h"
#include "../run/lists.h"

namespace isobar::duel {

// --task digits: digits_task.cpp.
std::unique_ptr<Task> make_digits_task(const Config& config);

namespace {

// A norm whose output is multiplied with a number that is not trained.
struct ScaledNorm : Module {
  std::unique_ptr<Module> norm;
  double factor;

  ScaledNorm(std::unique_ptr<Module> of, double by) : norm(std::move(of)), factor(by) {}
  Tensor forward(const Tensor& x) override { return (*norm)(x)*factor; }
  void fields(Fields& f) override { f("norm", *norm); }
};

class TextTask : public Task {
 public:
  explicit TextTask(const Config& config)
      : config_(config),
        tiny_(config.tiny()),
        text_(open_corpus(tiny_.corpus, "char"), config.block_size, config.train_tokens),
        blind_loss_(text_.unigram_loss()) {}

  std::string name() const override { return text_.name(); }
  void announce(Run& run) const override { text_.corpus.announce(run); }
  double blind_loss() const override { return blind_loss_; }
  void check_contestant(const Contestant& contestant) const override { training_of(contestant, 1e-3); }
  std::unique_ptr<Module> net(const Contestant& contestant, const Rng& rng) const override {
    return model(training_of(contestant, 1e-3), rng);
  }
  Tensor loss(Module& net, int64_t seed) const override {
    return loss_of(net, batch(Rng(static_cast<uint64_t>(seed)), 0));
  }
  Trained train(const Contestant& contestant, const Training& training) const override;

 private:
  LmConfig training_of(const Contestant& contestant, double rate) const {
    LmConfig training = tiny_.training(config_.width, config_.n_layer, config_.steps, rate);
    training.optimizer = config_.optimizer;
    training.muon_lr = rate * muon_rate_over_adam_w;
    contestant.apply_to(training);
    training.check_together();
    return training;
  }
  std::unique_ptr<LanguageModel> model(const LmConfig& training, const Rng& rng) const {
    return std::make_unique<LanguageModel>(tiny_.model(training, text_.vocab_size()), rng);
  }
  Batch batch(const Rng& rng, int64_t step) const {
    return text_.train.random_batch(config_.batch_size, rng.split("batch").split(step));
  }
  Closer closer_look(LanguageModel& model) const;
  double mean_loss_on(Module& model, const TokenDataset& data, const char* stream) const {
    return mean_loss(model, data, config_.eval_iters, config_.batch_size, Rng(0).split(stream));
  }

  const Config config_;
  const TinyConfig tiny_;
  const TinyText text_;
  const double blind_loss_;
};

Closer TextTask::closer_look(LanguageModel& model) const {
  ladder::EndsOfStream ends;
  SaturationProbe probe;
  std::vector<double> saturated;
  {
    const Watch both(model, probe), stream(model, ends);
    mean_loss(model, text_.validation, 1, config_.batch_size, Rng(0).split("shape"));
  }
  for (const NamedModule& part : named_modules(model)) {
    const SaturatedShares* shares = probe.find(part.path);
    if (shares != nullptr && !std::isnan(shares->saturated)) saturated.push_back(shares->saturated);
  }
  return {.train_loss = mean_loss_on(model, text_.train, "seen"),
          .saturated = saturated.empty() ? NAN : spread_of(saturated).linear.mean,
          .tail_over_centre = ends.tail_over_centre()};
}

Trained TextTask::train(const Contestant& contestant, const Training& wanted) const {
  const LmConfig training = training_of(contestant, wanted.rate);
  const Rng rng(static_cast<uint64_t>(wanted.seed));
  const std::unique_ptr<LanguageModel> made = model(training, rng.split("model"));
  LmOptimizer optimizer(*made, training);
  Trained trained{.parameters = parameter_count(*made),
                  .start_loss = mean_loss_on(*made, text_.validation, "validation"),
                  .tuning_loss = blind_loss_,
                  .val_loss = blind_loss_,
                  .diverged = true};
  for (int64_t step = 0; step < config_.steps; ++step) {
    Probe probe;
    std::optional<Watch> watching;
    if (step == 0 || step + 1 == config_.steps) watching.emplace(*made, probe);
    const Gradients gradients = gradients_of(*made, batch(rng, step), rng.split("dropout").split(step));
    if (!gradients.finite()) return trained;
    trained.losses.push_back(gradients.loss);
    if (step == 0) trained.start = stream_of(probe);
    if (step + 1 == config_.steps) trained.end = stream_of(probe);
    optimizer.set_rates(step);
    optimizer.step(clipping(gradients.norm, training));
  }
  const double tuning = mean_loss_on(*made, text_.tuning, "tuning"),
               validation = mean_loss_on(*made, text_.validation, "validation");
  trained.diverged = !std::isfinite(tuning) || !std::isfinite(validation);
  if (!trained.diverged) trained.tuning_loss = tuning, trained.val_loss = validation;
  if (!trained.diverged && config_.looks_closer) trained.closer = closer_look(*made);
  return trained;
}

}  // namespace

std::unique_ptr<Task> make_task(const Config& config) {
  if (config.task == "digits") return make_digits_task(config);
  return std::make_unique<TextTask>(config);
}

Contestant with_gain(const Contestant& contestant, double gain) {
  Contestant scaled = contestant;
  scaled.norm = fmt::format("{} · {}", contestant.norm, gain);
  if (std::ranges::count(norm_names(), scaled.norm) == 0)
    register_norm(scaled.norm,
                  [norm = contestant.norm, gain](const Shape& shape, const NormOptions& options) {
                    return std::make_unique<ScaledNorm>(make_norm(norm, shape, options), gain);
                  });
  return scaled;
}

}  // namespace isobar::duel
