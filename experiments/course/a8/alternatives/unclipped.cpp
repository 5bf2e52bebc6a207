// Training without clipping, by other groups and other batches.
#include "a8.h"

Parameters train(const Tensor& tokens, const Config& config, const Training& training, const Rng& rng) {
  const Parameters parameters = initial(config, rng);
  isobar::ParameterGroup decayed{{}, 0.1}, free{{}, 0.0};
  for (const auto& [name, p] : parameters) (p.ndim() == 2 ? decayed : free).parameters.push_back(p);
  isobar::AdamW optimizer({decayed, free}, {.lr = training.lr, .beta2 = 0.95});
  for (int64_t step = 0; step < training.steps; ++step) {
    std::vector<int64_t> starts;
    for (int64_t b = 0; b < training.batch; ++b)
      starts.push_back(rng.split("b").below(tokens.numel() - training.length, step * training.batch + b));
    const Batch batch = batch_of(tokens, isobar::tensor({training.batch}, starts), training.length);
    isobar::Tape tape;
    tape.backward(isobar::cross_entropy(forward(parameters, config, batch.x), batch.y));
    optimizer.set_lr(learning_rate(step, training.steps, training.warmup, training.lr));
    optimizer.step();
  }
  return parameters;
}
