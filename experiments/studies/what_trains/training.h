// One training of the map: a net, a learning rate and a seed, and what came of them.
#pragma once

#include "../../lm/training/small_config.h"
#include "../../nets/digits/classifier.h"
#include "../../run/grid.h"
#include "config.h"

namespace isobar::trains {

// What the nets learn from; the parts that are missing belong to tasks that are not asked for.
struct Data {
  std::optional<depth::Digits> digits;
  std::unique_ptr<const TinyText> text;

  explicit Data(const Config& config);
};

struct Outcome {
  double gain =
      0;  // on blind guessing (ln of the number of classes), in nats, on validation data; −∞: diverged
  double start_logits = 0;  // root mean square before training, on the first batch
  double first_change = 0;  // of those logits by the first step, over start_logits
  // Of MLPs, and not published: the loss of each step's batch, up to the last finite one, and how the trained net does on
  // validation images.
  std::vector<double> losses = {};
  depth::Judged judged = {NAN, NAN};

  void values(RowFields& f) {
    f("gain", gain), f("start_logits", start_logits), f("first_change", first_change);
  }
};

// A net, made and trained as the study's page says. `rate` is the first step's; a cosine brings it down to a tenth.
Outcome train(const Config& config, const Data& data, const Net& net, double rate, int64_t seed);
// The same of an MLP, on any digits.
Outcome train_on_digits(const Config& config, const Dataset& digits, const Dataset& validation,
                        const Net& net, double rate, int64_t seed);

// The two kinds of model with their initial weights.
std::unique_ptr<depth::Classifier> classifier_of(const Net& net, const Rng& rng);
std::unique_ptr<LanguageModel> language_model_of(const Config& config, const Net& net, int64_t vocabulary,
                                                 const Rng& rng);

}  // namespace isobar::trains
