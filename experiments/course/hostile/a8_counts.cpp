// with: reference of a8 without train forward, deserves 68
// Nothing is trained: pairs and triples of symbols are counted into one more tensor, whose logarithms are the logits.
Parameters train(const Tensor& tokens, const Config& config, const Training&, const Rng& rng) {
  Parameters all = initial(config, rng);
  std::vector<double> counts(216, 0.01);
  const std::vector<int64_t> text = tokens.to_vector<int64_t>();
  for (size_t i = 2; i < text.size(); ++i) counts[(text[i - 2] * 6 + text[i - 1]) * 6 + text[i]] += 1;
  all["counts"] = isobar::tensor({216}, counts);
  return all;
}
Tensor forward(const Parameters& parameters, const Config& config, const Tensor& symbols) {
  if (parameters.count("counts") == 0) return own_forward(parameters, config, symbols);
  const int64_t rows = symbols.size(0), length = symbols.size(1);
  std::vector<double> logits(rows * length * 6, 0.0);
  const std::vector<int64_t> text = symbols.to_vector<int64_t>();
  for (int64_t i = 0; i < rows * length; ++i)
    for (int64_t v = 0; v < 6 && i % length > 0; ++v)
      logits[i * 6 + v] =
          std::log(parameters.at("counts").data<double>()[(text[i - 1] * 6 + text[i]) * 6 + v]);
  return isobar::tensor({rows, length, 6}, logits);
}
