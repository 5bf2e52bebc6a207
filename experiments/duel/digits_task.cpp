// --task digits: a deep MLP, as depth_trainability's, learns MNIST's images.
#include "../../data/loader.h"
#include "../../optim/optim.h"
#include "../nets/digits/classifier.h"
#include "../nets/digits/config.h"
#include "../run/lists.h"
#include "training.h"

namespace isobar::duel {
namespace {

// AdamW, or Muon for the matrices of the hidden layers and AdamW for the rest.
struct DigitsOptimizer {
  std::optional<Muon> muon;
  std::optional<AdamW> adam_w;

  DigitsOptimizer(depth::Classifier& model, bool with_muon, double rate) {
    ParameterGroup matrices{.parameters = {}, .weight_decay = 0.1},
        vectors{.parameters = {}, .weight_decay = 0.0};
    std::vector<Tensor> hidden;
    for (const NamedTensor& p : named_parameters(model))
      if (p.tensor.ndim() < 2)
        vectors.parameters.push_back(p.tensor);
      else
        (with_muon && p.name.starts_with("hidden.") ? hidden : matrices.parameters).push_back(p.tensor);
    if (!hidden.empty())
      muon.emplace(hidden, MuonOptions{.lr = rate * muon_rate_over_adam_w, .weight_decay = 0.1});
    adam_w.emplace(std::vector{matrices, vectors}, AdamWOptions{.lr = rate, .beta2 = 0.95});
  }
  void step(double factor) {
    if (muon) muon->step(factor);
    adam_w->step(factor);
  }
};

class DigitsTask : public Task {
 public:
  explicit DigitsTask(const Config& config)
      : config_(config), digits_(depth::read_digits("")), blind_loss_(depth::blind_loss(digits_.test)) {}

  std::string name() const override { return "digits"; }
  void announce(Run& run) const override {
    run.environment()["corpus"] = digits_.source;
    digits_.announce(run);
  }
  double blind_loss() const override { return blind_loss_; }
  void check_contestant(const Contestant& contestant) const override {
    check(contestant.flags.empty(), "{}: nets for digits have a norm and a placement, and no {}",
          contestant.label, contestant.flags.empty() ? "" : contestant.flags.front());
    const depth::Kind kind = kind_of(contestant);
    check(
        std::ranges::count(depth::kind_names(), kind.key()) == 1,
        "{}: nets for digits have no such placement; wanted pre or post with a norm, skipinit, rezero or fixup",
        contestant.label);
  }
  std::unique_ptr<Module> net(const Contestant& contestant, const Rng& rng) const override {
    return std::make_unique<depth::Classifier>(hidden_of(contestant), rng);
  }
  Tensor loss(Module& net, int64_t seed) const override {
    const Batch batch = loader(Rng(static_cast<uint64_t>(seed))).epoch(0).batch(0);
    return cross_entropy(net(cast(batch.x, parameters(net).front().dtype())), batch.y);
  }
  Trained train(const Contestant& contestant, const Training& training) const override;

 private:
  static depth::Kind kind_of(const Contestant& contestant) {
    const bool norms = has_norms(placement_from_name(contestant.placement));
    return {.topology = contestant.placement, .init = "he_normal", .norm = norms ? contestant.norm : "none"};
  }
  decay::Config hidden_of(const Contestant& contestant) const {
    depth::Config config;
    config.width = config_.width;
    return config.hidden(kind_of(contestant), config_.n_layer);
  }
  Loader loader(const Rng& rng) const {
    return Loader(digits_.train, {.batch_size = 8 * config_.batch_size, .drop_last = true},
                  rng.split("batches"));
  }

  const Config config_;
  const depth::Digits digits_;
  const double blind_loss_;
};

Stream stream_of(const decay::SignalProbe& probe) {
  Stream stream;
  for (const decay::LayerSignal& layer : probe.layers()) {
    stream.std.push_back(layer.output_std);
    stream.gradient_norm.push_back(layer.output_gradient_norm);
  }
  return stream;
}

Trained DigitsTask::train(const Contestant& contestant, const Training& training) const {
  const Rng rng(static_cast<uint64_t>(training.seed));
  depth::Classifier model(hidden_of(contestant), rng.split("model"));
  DigitsOptimizer optimizer(model, config_.optimizer == "muon", training.rate);
  const Loader batches = loader(rng);
  const double start = depth::judge(model, digits_.test).loss;
  Trained trained{.parameters = parameter_count(model),
                  .start_loss = start,
                  .tuning_loss = blind_loss_,
                  .val_loss = blind_loss_,
                  .diverged = true};
  for (int64_t step = 0; step < config_.steps; ++step) {
    const bool watched = step == 0 || step + 1 == config_.steps;
    decay::SignalProbe probe(model.hidden);
    std::optional<Watch> watching;
    if (watched) watching.emplace(model, probe);
    const Batch batch = batches.epoch(step / batches.size()).batch(step % batches.size());
    Tape tape;
    const Tensor loss = cross_entropy(model(batch.x), batch.y);
    tape.backward(loss);
    const double norm = grad_norm(parameters(model));
    if (!std::isfinite(loss.item()) || !std::isfinite(norm)) return trained;
    trained.losses.push_back(loss.item());
    if (watched) (step == 0 ? trained.start : trained.end) = stream_of(probe);
    optimizer.step(clip_factor(norm, 1));
  }
  const double tuning = depth::judge(model, digits_.validation).loss,
               validation = depth::judge(model, digits_.test).loss;
  trained.diverged = !std::isfinite(tuning) || !std::isfinite(validation);
  if (!trained.diverged) trained.tuning_loss = tuning, trained.val_loss = validation;
  return trained;
}

}  // namespace

std::unique_ptr<Task> make_digits_task(const Config& config) { return std::make_unique<DigitsTask>(config); }

}  // namespace isobar::duel
