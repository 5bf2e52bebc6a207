#include "classifier.h"

#include "../../../data/loader.h"

namespace isobar::depth {

Classifier::Classifier(const decay::Config& config, const Rng& rng)
    : input(init::lecun_normal({config.width, 784}, rng.split("input")), zeros({config.width})),
      hidden(config, rng.split("hidden")),
      last_norm(make_norm(config.topology == "pre" ? config.norm : "none", {config.width})),
      head(init::lecun_normal({10, config.width}, rng.split("head")), zeros({10})) {}

Tensor Classifier::forward(const Tensor& x) { return head((*last_norm)(hidden(input(x)))); }

void Classifier::fields(Fields& f) {
  f("input", input);
  f("hidden", hidden);
  f("last_norm", *last_norm);
  f("head", head);
}

Judged judge(Classifier& model, const Dataset& images) {
  const Evaluation here(model);
  double correct = 0, loss = 0;
  for (const auto& [x, y] : Loader(images, {.batch_size = 500, .shuffle = false}, Rng(0)).epoch(0)) {
    const Tensor logits = model(x);
    if (!all_finite(logits)) return {NAN, NAN};
    correct += sum(cast(argmax(logits, -1) == y, Dtype::f64)).item();
    loss += cross_entropy(logits, y).item() * static_cast<double>(y.numel());
  }
  const auto images_in_all = static_cast<double>(images.size());
  return {correct / images_in_all, loss / images_in_all};
}

}  // namespace isobar::depth
