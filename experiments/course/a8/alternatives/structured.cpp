// The model as structs of a block's tensors; Adam without decay; one text at a time in evaluate.
#include <algorithm>
#include <cmath>
#include <limits>

#include "a8.h"

namespace {

struct Block {
  Tensor norm1, q, k, v, o, norm2, gate, up, down;

  Block(const Parameters& all, int64_t layer) {
    const std::string at = std::to_string(layer) + ".";
    for (auto [tensor, name] : {std::pair{&norm1, "norm1"},
                                {&q, "q"},
                                {&k, "k"},
                                {&v, "v"},
                                {&o, "o"},
                                {&norm2, "norm2"},
                                {&gate, "gate"},
                                {&up, "up"},
                                {&down, "down"}})
      *tensor = all.at(at + name);
  }

  Tensor operator()(const Tensor& x, int64_t heads) const {
    const int64_t b = x.size(0), t = x.size(1), c = x.size(2);
    const auto split = [&](const Tensor& y) { return isobar::reshape(y, {b, t, heads, c / heads}); };
    const auto position = [&](const Tensor& y) {
      return isobar::rope(split(y), 10000.0, 0, isobar::RopeStyle::half_split);
    };
    const Tensor n = isobar::rms_norm(x, {c}, norm1, 1e-5);
    const Tensor a = isobar::attention(position(isobar::linear(n, q)), position(isobar::linear(n, k)),
                                       split(isobar::linear(n, v)), {.causal = true});
    const Tensor h = isobar::linear(isobar::reshape(a, x.shape()), o) + x;
    const Tensor m = isobar::rms_norm(h, {c}, norm2, 1e-5);
    return isobar::linear(isobar::silu(isobar::linear(m, gate)) * isobar::linear(m, up), down) + h;
  }
};

}  // namespace

Batch batch_of(const Tensor& tokens, const Tensor& starts, int64_t length) {
  Batch out{Tensor({starts.size(0), length}, Dtype::i64), Tensor({starts.size(0), length}, Dtype::i64)};
  for (int64_t b = 0; b < starts.size(0); ++b) {
    const int64_t start = starts.data<int64_t>()[b];
    check(0 <= start && start < tokens.size(0) - length,
          "batch_of: wanted a start in [0, N − {}) with N = {}, got {}", length, tokens.size(0), start);
    for (int64_t t = 0; t < length; ++t) {
      raw::write<int64_t>(out.x)[b * length + t] = tokens.at({start + t});
      raw::write<int64_t>(out.y)[b * length + t] = tokens.at({start + t + 1});
    }
  }
  return out;
}

Parameters initial(const Config& config, const Rng& rng) {
  Parameters all;
  const int64_t c = config.width;
  const auto add = [&](const std::string& name, int64_t rows, int64_t columns, double std = 0.02) {
    Tensor w = raw::clone(rng.split(name).normal({rows, columns}));
    for (int64_t i = 0; i < w.numel(); ++i) raw::write<float>(w)[i] *= static_cast<float>(std);
    all[name] = w.set_trainable();
  };
  add("embedding", config.vocabulary, c);
  for (int64_t l = 0; l < config.layers; ++l) {
    const std::string at = fmt::format("{}.", l);
    const double small = 0.02 / std::sqrt(2.0 * config.layers);
    add(at + "q", c, c), add(at + "k", c, c), add(at + "v", c, c), add(at + "o", c, c, small);
    add(at + "gate", 2 * c, c), add(at + "up", 2 * c, c), add(at + "down", c, 2 * c, small);
    all[at + "norm1"] = isobar::full({c}, 1.0).set_trainable();
    all[at + "norm2"] = isobar::full({c}, 1.0).set_trainable();
  }
  all["norm"] = isobar::full({c}, 1.0).set_trainable();
  return all;
}

double learning_rate(int64_t step, int64_t steps, int64_t warmup, double lr) {
  if (step < warmup) return (1 + step) * (lr / warmup);
  const double least = 0.1 * lr, middle = (lr + least) / 2, reach = (lr - least) / 2;
  return step < steps ? middle + reach * std::cos(M_PI * (step - warmup) / (steps - warmup)) : least;
}

Tensor forward(const Parameters& parameters, const Config& config, const Tensor& symbols) {
  Tensor x = isobar::embedding(symbols, parameters.at("embedding"));
  for (int64_t l = 0; l < config.layers; ++l) x = Block(parameters, l)(x, config.heads);
  x = isobar::rms_norm(x, {config.width}, parameters.at("norm"), 1e-5);
  return isobar::matmul(x, isobar::transpose(parameters.at("embedding")));
}

double evaluate(const Parameters& parameters, const Config& config, const Tensor& tokens, int64_t length) {
  std::vector<double> losses;
  const int64_t texts = (tokens.numel() - 1) / length;
  for (int64_t i = 0; i < texts; ++i) {
    const Batch one =
        batch_of(tokens, raw::cast(isobar::full({1}, i * length, Dtype::f64), Dtype::i64), length);
    const Tensor log_p = isobar::log_softmax(forward(parameters, config, one.x));
    for (int64_t t = 0; t < length; ++t)
      losses.push_back(-log_p.at({0, t, one.y.at({0, t}) < 0 ? 0 : int64_t(one.y.at({0, t}))}));
  }
  double mean = 0;
  for (size_t i = 0; i < losses.size(); ++i) mean += (losses[i] - mean) / (i + 1);
  return mean;
}

Parameters train(const Tensor& tokens, const Config& config, const Training& training, const Rng& rng) {
  Parameters learned = initial(config, rng.split(0));
  std::vector<Tensor> list;
  for (auto& entry : learned) list.push_back(entry.second);
  isobar::Adam optimizer(list, {.lr = training.lr});
  for (int64_t step = 0; step < training.steps; ++step) {
    const Tensor starts = rng.split(1 + step).integers({training.batch}, tokens.size(0) - training.length);
    const auto [x, y] = batch_of(tokens, starts, training.length);
    isobar::Tape tape;
    tape.backward(isobar::cross_entropy(forward(learned, config, x), y));
    optimizer.set_lr(learning_rate(step, training.steps, training.warmup, training.lr));
    optimizer.step(isobar::clip_factor(isobar::grad_norm(list), 1.0));
  }
  return learned;
}

int64_t sample(const Tensor& logits, double temperature, int64_t top_k, double u) {
  std::vector<double> z = logits.to_vector<double>();
  const int64_t count = z.size();
  const auto best = [&] { return std::max_element(z.begin(), z.end()) - z.begin(); };  // the first of equals
  if (temperature == 0) return best();
  const double top = z[best()];
  std::vector<double> p(count, 0.0);
  double total = 0;
  for (int64_t i = 0; i < (top_k == 0 ? count : std::min(top_k, count)); ++i) {
    const int64_t v = best();
    total += p[v] = std::exp((z[v] - top) / temperature);
    z[v] = -std::numeric_limits<double>::infinity();
  }
  double below = 0;
  for (int64_t v = 0; v < count; ++v)
    if ((below += p[v]) > u * total) return v;
  return count - 1;
}
