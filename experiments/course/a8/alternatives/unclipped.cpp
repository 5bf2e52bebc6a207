// Attention composed of products, a mask and a softmax; norms and SwiGLU of plain ops; training without
// clipping, by other groups and other batches.
#include <cmath>

#include "a8.h"

namespace {

Tensor norm_of(const Tensor& x, const Tensor& weight) {
  return x / isobar::sqrt(isobar::mean(isobar::square(x), {-1}, true) + 1e-5) * weight;
}

// (B, T, C) → (B, H, T, C/H)
Tensor split_heads(const Tensor& x, int64_t heads, bool turned) {
  const Tensor split = isobar::reshape(x, {x.size(0), x.size(1), heads, x.size(2) / heads});
  return isobar::permute(turned ? isobar::rope(split, 1e4) : split, {0, 2, 1, 3});
}

Tensor mask_of(int64_t length, Dtype dtype) {
  std::vector<double> mask;
  for (int64_t t = 0; t < length; ++t)
    for (int64_t s = 0; s < length; ++s) mask.push_back(s > t ? -1e30 : 0);
  return raw::cast(isobar::tensor({length, length}, mask), dtype);
}

}  // namespace

Tensor forward(const Parameters& parameters, const Config& config, const Tensor& symbols) {
  const Tensor table = parameters.at("embedding");
  const Tensor mask = mask_of(symbols.size(1), table.dtype());
  Tensor x = isobar::embedding(symbols, table);
  for (int64_t l = 0; l < config.layers; ++l) {
    const std::string at = std::to_string(l) + ".";
    const auto times = [&](const Tensor& y, const char* name) {
      return isobar::matmul(y, isobar::transpose(parameters.at(at + name)));
    };
    const Tensor n = norm_of(x, parameters.at(at + "norm1"));
    const Tensor q = split_heads(times(n, "q"), config.heads, true),
                 k = split_heads(times(n, "k"), config.heads, true);
    const Tensor z = isobar::matmul(q, isobar::transpose(k)) / std::sqrt(double(q.size(3))) + mask;
    const Tensor y = isobar::permute(
        isobar::matmul(isobar::softmax(z), split_heads(times(n, "v"), config.heads, false)), {0, 2, 1, 3});
    x = x + times(isobar::reshape(y, x.shape()), "o");
    const Tensor m = norm_of(x, parameters.at(at + "norm2"));
    const Tensor gate = times(m, "gate");
    x = x + times(gate * isobar::sigmoid(gate) * times(m, "up"), "down");
  }
  return isobar::matmul(norm_of(x, parameters.at("norm")), isobar::transpose(table));
}

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
