#include "generate.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "../../core/kernels/functions.h"
#include "../model.h"

namespace isobar {
namespace {

// Ids from the likeliest to the least likely, equally likely ones in their own order.
std::vector<size_t> by_chance(const std::vector<double>& chance) {
  std::vector<size_t> order(chance.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return chance[a] > chance[b]; });
  return order;
}

// Chances of all but the first `kept` of `order` become 0; the others then sum to 1.
void keep(std::vector<double>& chance, const std::vector<size_t>& order, size_t kept) {
  double sum = 0;
  for (size_t i = 0; i < order.size(); ++i)
    if (i < kept)
      sum += chance[order[i]];
    else
      chance[order[i]] = 0;
  for (double& c : chance) c /= sum;
}

// How many of the likeliest tokens it takes to reach `wanted`. Sums are rounded: 1e-12 short is enough.
size_t needed_for(const std::vector<double>& chance, const std::vector<size_t>& order, double wanted) {
  double sum = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    sum += chance[order[i]];
    if (sum >= wanted - 1e-12) return i + 1;
  }
  return order.size();
}

// The token at which the running sum of chances passes a number in (0, 1); never one without a chance.
int32_t draw(const std::vector<double>& chance, double number) {
  size_t last = 0;
  for (size_t token = 0; token < chance.size(); ++token) {
    if (chance[token] == 0) continue;
    last = token;
    if (number < chance[token]) break;
    number -= chance[token];
  }
  return static_cast<int32_t>(last);
}

Tensor symbols_of(std::span<const int32_t> tokens) {
  return tensor<int32_t>({1, static_cast<int64_t>(tokens.size())}, tokens);
}

}  // namespace

void check_sampling(const Sampling& sampling, std::string_view prefix) {
  check(sampling.temperature >= 0 && std::isfinite(sampling.temperature),
        "{}temperature: wanted 0 or more, got {}", prefix, sampling.temperature);
  check(sampling.top_k >= 0, "{}top_k: wanted 0 or more, got {}", prefix, sampling.top_k);
  check(sampling.top_p > 0 && sampling.top_p <= 1, "{}top_p: wanted a chance in (0, 1], got {}", prefix,
        sampling.top_p);
}

std::vector<double> chances(std::span<const float> logits, const Sampling& sampling) {
  check_sampling(sampling);
  if (sampling.tokens > 0 && sampling.tokens < static_cast<int64_t>(logits.size()))
    logits = logits.first(static_cast<size_t>(sampling.tokens));
  check(!logits.empty(), "generate: wanted at least one logit");
  check(std::all_of(logits.begin(), logits.end(), [](float z) { return std::isfinite(z); }),
        "generate: the logits are not finite; was the model trained to the end?");
  const auto likeliest = std::max_element(logits.begin(), logits.end());
  std::vector<double> chance(logits.size(), 0.0);
  if (sampling.temperature == 0) {
    chance[static_cast<size_t>(likeliest - logits.begin())] = 1;
    return chance;
  }
  for (size_t i = 0; i < logits.size(); ++i)
    chance[i] = kernels::exp((static_cast<double>(logits[i]) - *likeliest) / sampling.temperature);
  const std::vector<size_t> order = by_chance(chance);
  const size_t all = chance.size(), k = static_cast<size_t>(sampling.top_k);
  keep(chance, order, k > 0 ? std::min(k, all) : all);
  if (sampling.top_p < 1) keep(chance, order, needed_for(chance, order, sampling.top_p));
  return chance;
}

std::vector<int32_t> generate(LanguageModel& model, std::vector<int32_t> prompt, int64_t count,
                              const Sampling& sampling, const Rng& rng,
                              const std::function<void(int32_t)>& on_token) {
  check(!prompt.empty(), "generate: wanted a prompt of at least one token");
  check_sampling(sampling);
  const Evaluation here(model);
  std::vector<int32_t> tokens = std::move(prompt);
  KeyValueCache cache;
  for (int64_t i = 0; i < count; ++i) {
    const size_t window = std::min<size_t>(tokens.size(), model.config.block_size);
    if (cache.length == model.config.block_size) cache = {};
    const size_t unread = cache.length == 0 ? window : 1;
    const Tensor logits = model(symbols_of(std::span(tokens).last(unread)), cache);
    const std::vector<float> last = slice(logits, 1, logits.size(1) - 1, logits.size(1)).to_vector<float>();
    tokens.push_back(draw(chances(last, sampling), rng.uniform_at(static_cast<uint64_t>(i))));
    if (on_token) on_token(tokens.back());
  }
  return tokens;
}

}  // namespace isobar
