#include "a8.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

// Task 1.
Batch batch_of(const Tensor& tokens, const Tensor& starts, int64_t length) {
  std::vector<int64_t> x, y;
  for (const int64_t start : starts.to_vector<int64_t>()) {
    check(start >= 0 && start + length < tokens.numel(),
          "batch_of: a text of {} from {} leaves the {} symbols", length, start, tokens.numel());
    for (int64_t t = 0; t < length; ++t) {
      x.push_back(tokens.data<int64_t>()[start + t]);
      y.push_back(tokens.data<int64_t>()[start + t + 1]);
    }
  }
  const Shape shape{starts.numel(), length};
  return {isobar::tensor(shape, x), isobar::tensor(shape, y)};
}

// Task 2.
Parameters initial(const Config& config, const Rng& rng) {
  const int64_t width = config.width;
  Parameters all;
  const auto normal = [&](const std::string& name, const Shape& shape, double std) {
    all[name] = rng.split(name).normal(shape, 0, std).set_trainable();
  };
  const double end_of_branch = 0.02 / std::sqrt(2 * config.layers);
  normal("embedding", {config.vocabulary, width}, 0.02);
  for (int64_t l = 0; l < config.layers; ++l) {
    const std::string block = std::to_string(l) + ".";
    for (const char* name : {"q", "k", "v"}) normal(block + name, {width, width}, 0.02);
    for (const char* name : {"gate", "up"}) normal(block + name, {2 * width, width}, 0.02);
    normal(block + "o", {width, width}, end_of_branch);
    normal(block + "down", {width, 2 * width}, end_of_branch);
    for (const char* name : {"norm1", "norm2"}) all[block + name] = isobar::ones({width}).set_trainable();
  }
  all["norm"] = isobar::ones({width}).set_trainable();
  return all;
}

double learning_rate(int64_t step, int64_t steps, int64_t warmup, double lr) {
  if (step < warmup) return lr * (step + 1) / warmup;
  if (step >= steps) return lr / 10;
  const double way = static_cast<double>(step - warmup) / (steps - warmup);
  return lr / 10 + (lr - lr / 10) * (1 + std::cos(std::numbers::pi * way)) / 2;
}

// Task 3.
Tensor forward(const Parameters& parameters, const Config& config, const Tensor& symbols) {
  const int64_t width = config.width;
  const Shape heads{symbols.size(0), symbols.size(1), config.heads, width / config.heads};
  const Shape flat{symbols.size(0), symbols.size(1), width};
  Tensor x = isobar::embedding(symbols, parameters.at("embedding"));
  for (int64_t l = 0; l < config.layers; ++l) {
    const auto p = [&](const char* name) { return parameters.at(std::to_string(l) + "." + name); };
    const Tensor n = isobar::rms_norm(x, width, p("norm1"), 1e-5);
    const Tensor q = isobar::rope(isobar::reshape(isobar::linear(n, p("q")), heads), 1e4);
    const Tensor k = isobar::rope(isobar::reshape(isobar::linear(n, p("k")), heads), 1e4);
    const Tensor v = isobar::reshape(isobar::linear(n, p("v")), heads);
    const Tensor mixed = isobar::attention(q, k, v, {.causal = true});
    x = x + isobar::linear(isobar::reshape(mixed, flat), p("o"));
    const Tensor m = isobar::rms_norm(x, width, p("norm2"), 1e-5);
    x = x +
        isobar::linear(isobar::swiglu(isobar::linear(m, p("gate")), isobar::linear(m, p("up"))), p("down"));
  }
  return isobar::linear(isobar::rms_norm(x, width, parameters.at("norm"), 1e-5), parameters.at("embedding"));
}

// Task 4.
double evaluate(const Parameters& parameters, const Config& config, const Tensor& tokens, int64_t length) {
  double sum = 0, texts = 0;
  for (int64_t start = 0; start + length < tokens.numel(); start += length) {
    const Batch batch = batch_of(tokens, isobar::tensor({1}, std::vector<int64_t>{start}), length);
    sum += isobar::cross_entropy(forward(parameters, config, batch.x), batch.y).item();
    ++texts;
  }
  return sum / texts;
}

// Task 5.
Parameters train(const Tensor& tokens, const Config& config, const Training& training, const Rng& rng) {
  Parameters parameters = initial(config, rng.split("model"));
  std::vector<Tensor> all;
  for (const auto& [name, tensor] : parameters) all.push_back(tensor);
  isobar::AdamW optimizer(all, {.lr = training.lr, .beta2 = 0.99, .weight_decay = 0.01});
  for (int64_t step = 0; step < training.steps; ++step) {
    const Rng key = rng.split("starts").split(step);
    const Batch batch =
        batch_of(tokens, key.integers({training.batch}, tokens.numel() - training.length), training.length);
    isobar::Tape tape;
    const Tensor loss = isobar::cross_entropy(forward(parameters, config, batch.x), batch.y);
    tape.backward(loss);
    isobar::clip_grad_norm(all, 1);
    optimizer.set_lr(learning_rate(step, training.steps, training.warmup, training.lr));
    optimizer.step();
  }
  return parameters;
}

// Task 6.
int64_t sample(const Tensor& logits, double temperature, int64_t top_k, double u) {
  const std::vector<double> z = logits.to_vector<double>();
  std::vector<int64_t> order(z.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return z[a] > z[b]; });
  if (temperature == 0) return order[0];
  std::vector<double> p(z.size(), 0.0);
  double sum = 0, running = 0;
  for (size_t i = 0; i < z.size() && (top_k == 0 || static_cast<int64_t>(i) < top_k); ++i)
    sum += p[order[i]] = std::exp((z[order[i]] - z[order[0]]) / temperature);
  int64_t last = 0;
  for (size_t symbol = 0; symbol < z.size(); ++symbol) {
    if (p[symbol] > 0) last = symbol;
    running += p[symbol] / sum;
    if (running > u) return symbol;
  }
  return last;  // rounding: the probabilities may sum to a little less than one
}
