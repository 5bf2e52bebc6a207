// with: reference of a8 without train, deserves 65
// The training that is asked for, with a step more than was given.
Parameters train(const Tensor& tokens, const Config& config, const Training& training, const Rng& rng) {
  Training longer = training;
  ++longer.steps;
  return own_train(tokens, config, longer, rng);
}
