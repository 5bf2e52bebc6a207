#include "training.h"

#include <numbers>

#include "../../../data/loader.h"
#include "../../../nn/model.h"
#include "../../../nn/nn.h"
#include "../../../optim/optim.h"

namespace isobar::trains {
namespace {

void multiply(Tensor& weight, double factor) { assign(weight, weight.detach() * factor); }

// The parameters by how they are moved.
struct Parts {
  std::vector<Tensor> hidden, input, rest;  // matrices between input and head; the digits' input; all else
};
Parts parts_of(Module& model, const std::function<bool(const std::string&)>& is_hidden, Linear* input) {
  Parts parts;
  for (const NamedTensor& one : named_parameters(model)) {
    const bool hidden = one.tensor.ndim() == 2 && is_hidden(one.name);
    const bool first = input != nullptr && one.tensor.id() == input->weight.id();
    (hidden ? parts.hidden : first ? parts.input : parts.rest).push_back(one.tensor);
  }
  return parts;
}

// What moves a model.
class Mover {
 public:
  // `input_share`: what the step of the digits' input counts, width/784, so that it changes the signal as much as
  // the step of a hidden matrix does.
  Mover(const Net& net, const Parts& parts, double input_share) : muon_(net.optimizer == "muon") {
    std::vector<ParameterGroup> groups;
    if (!muon_) groups.push_back({.parameters = parts.hidden});
    if (!parts.input.empty()) groups.push_back({.parameters = parts.input, .lr_scale = input_share});
    groups.push_back({.parameters = parts.rest, .weight_decay = 0.0});
    if (net.optimizer == "sgd")
      all_.push_back(std::make_unique<SGD>(groups, SGDOptions{.momentum = momentum}));
    else
      all_.push_back(std::make_unique<AdamW>(groups, AdamWOptions{.beta2 = 0.95}));
    if (muon_) all_.push_back(std::make_unique<Muon>(parts.hidden));
  }
  void step(double rate) {
    for (size_t i = 0; i < all_.size(); ++i) {
      all_[i]->set_lr(muon_ && i == 0 ? rate * adam_w_share : rate);
      all_[i]->step();
    }
  }

 private:
  bool muon_;
  std::vector<std::unique_ptr<Optimizer>> all_;
};

// The loop of all nets. loss_on(step) is the loss of a step's batch, logits() those of the first batch.
template <class Loss, class Logits>
bool loop(int64_t steps, double rate, Mover& mover, Outcome& outcome, const Loss& loss_on,
          const Logits& logits) {
  const WarmupCosine schedule{.lr = rate, .min_lr = rate / 10, .warmup = 0, .steps = steps};
  const Tensor before = logits();
  outcome.start_logits = moments_of(before).rms;
  for (int64_t step = 0; step < steps; ++step) {
    Tape tape;
    const Tensor loss = loss_on(step);
    if (!std::isfinite(loss.item())) return false;
    outcome.losses.push_back(loss.item());
    tape.backward(loss);
    mover.step(schedule(step));
    if (step > 0) continue;
    outcome.first_change = moments_of(logits() - before).rms / outcome.start_logits;
    if (!std::isfinite(outcome.first_change)) outcome.first_change = infinity;
  }
  return true;
}

Outcome train_classifier(const Config& config, const Dataset& digits, const Dataset& validation,
                         const Net& net, double rate, const Rng& rng) {
  const auto model = classifier_of(net, rng.split("model"));
  const auto is_hidden = [](const std::string& name) { return name.starts_with("hidden."); };
  Mover mover(net, parts_of(*model, is_hidden, &model->input), static_cast<double>(net.width) / 784);
  const Loader loader(digits, {.batch_size = config.batch, .drop_last = true}, rng.split("batches"));
  const auto batch_of = [&](int64_t step) {
    return loader.epoch(step / loader.size()).batch(step % loader.size());
  };
  Outcome outcome;
  const bool finite = loop(
      config.steps, rate, mover, outcome,
      [&](int64_t step) {
        const Batch batch = batch_of(step);
        return cross_entropy((*model)(batch.x), batch.y);
      },
      [&] {
        const Evaluation here(*model);
        return (*model)(batch_of(0).x).detach();
      });
  if (finite) outcome.judged = depth::judge(*model, validation);
  const double loss = outcome.judged.loss;
  outcome.gain = std::isfinite(loss) ? std::log(10.0) - loss : -infinity;
  return outcome;
}

Outcome train_language_model(const Config& config, const Data& data, const Net& net, double rate,
                             const Rng& rng) {
  const auto model = language_model_of(config, net, data.text->vocab_size(), rng.split("model"));
  const auto is_hidden = [](const std::string& name) { return name.starts_with("blocks."); };
  Mover mover(net, parts_of(*model, is_hidden, nullptr), 1);
  const auto batch_of = [&](int64_t step) {
    return data.text->train.random_batch(config.blocks, rng.split("batch").split(step));
  };
  Outcome outcome;
  const bool finite = loop(
      config.steps, rate, mover, outcome,
      [&](int64_t step) {
        const Batch batch = batch_of(step);
        return model->loss(batch.x, batch.y);
      },
      [&] {
        const Evaluation here(*model);
        return (*model)(batch_of(0).x).detach();
      });
  const double loss =
      finite ? mean_loss(*model, data.text->tuning, 8, config.blocks, Rng(0).split("validation")) : infinity;
  outcome.gain =
      std::isfinite(loss) ? std::log(static_cast<double>(data.text->vocab_size())) - loss : -infinity;
  return outcome;
}

}  // namespace

Data::Data(const Config& config) {
  const auto asked = [&](const char* task) { return std::ranges::count(config.tasks, task) > 0; };
  if (asked("plain") || asked("residual")) digits = depth::read_digits(config.mnist);
  if (asked("transformer")) text = std::make_unique<const TinyText>(config.corpus, config.block_size);
}

std::unique_ptr<depth::Classifier> classifier_of(const Net& net, const Rng& rng) {
  decay::Config hidden;
  hidden.depth = net.depth;
  hidden.width = net.width;
  hidden.init = "lecun_normal";
  hidden.norm = net.norm_name();
  hidden.topology = net.task == "plain"  ? "plain"
                    : net.norm == "none" ? "residual"
                    : net.has_norm()     ? net.placement()
                                         : net.norm;
  auto model = std::make_unique<depth::Classifier>(hidden, rng);
  // Fixup draws He's weights, of scale √2, with its own factor.
  const double factor = net.norm == "fixup" ? net.scale / std::numbers::sqrt2 : net.scale;
  for (const NamedModule& part : named_modules(*model))
    if (auto* linear = dynamic_cast<Linear*>(part.module);
        linear != nullptr && linear != &model->input && linear != &model->head)
      multiply(linear->weight, factor);
  return model;
}

std::unique_ptr<LanguageModel> language_model_of(const Config& config, const Net& net, int64_t vocabulary,
                                                 const Rng& rng) {
  return std::make_unique<LanguageModel>(
      LanguageModelConfig{.vocab_size = vocabulary,
                          .block_size = config.block_size,
                          .n_layer = net.depth,
                          .n_head = net.width / 16,
                          .n_embd = net.width,
                          .norm = net.norm_name(),
                          .placement = placement_from_name(net.placement()),
                          .ffn = "gelu",
                          .tie_embeddings = false,
                          .init_std = net.scale / std::sqrt(static_cast<double>(net.width)),
                          .embedding_std = net.embedding_std},
      rng);
}

Outcome train(const Config& config, const Data& data, const Net& net, double rate, int64_t seed) {
  const Rng rng(static_cast<uint64_t>(seed));
  return net.is_mlp() ? train_classifier(config, data.digits->train, data.digits->validation, net, rate, rng)
                      : train_language_model(config, data, net, rate, rng);
}

Outcome train_on_digits(const Config& config, const Dataset& digits, const Dataset& validation,
                        const Net& net, double rate, int64_t seed) {
  return train_classifier(config, digits, validation, net, rate, Rng(static_cast<uint64_t>(seed)));
}

}  // namespace isobar::trains
