#include "synthetic.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "../core/kernels/functions.h"

namespace isobar {
namespace {

constexpr int symbols = MarkovSource::symbols;
constexpr double concentration = 0.3;  // of the Dirichlet distribution; its rows are far from uniform

// A draw from Gamma(shape, 1) by rejection (Marsaglia and Tsang 2000, "A simple method for generating gamma
// variables"), for shape < 1 through Gamma(shape) = Gamma(shape + 1) · U^(1 / shape) as proposed there.
// std::gamma_distribution is not used: its results differ between standard libraries.
double gamma_draw(double shape, const Rng& rng) {
  if (shape < 1)
    return gamma_draw(shape + 1, rng.split("boosted")) *
           kernels::pow(rng.split("boost").uniform_at(0), 1 / shape);
  const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  const Rng normals = rng.split("normal"), uniforms = rng.split("uniform");
  for (uint64_t attempt = 0;; ++attempt) {
    const double x = normals.normal_at(attempt), t = 1 + c * x;
    if (t <= 0) continue;
    const double v = t * t * t;
    const double log_u = kernels::log(uniforms.uniform_at(attempt));
    if (log_u < x * x / 2 + d - d * v + d * kernels::log(v)) return d * v;
  }
}

// 256 rows from the Dirichlet distribution: gamma draws divided by their sum.
std::vector<double> draw_rows(const Rng& rng) {
  std::vector<double> rows(symbols * symbols * symbols);
  for (size_t i = 0; i < rows.size(); ++i) rows[i] = gamma_draw(concentration, rng.split(i));
  for (auto row = rows.begin(); row != rows.end(); row += symbols) {
    const double sum = std::accumulate(row, row + symbols, 0.0);
    std::for_each(row, row + symbols, [sum](double& p) { p /= sum; });
  }
  return rows;
}

// The stationary distribution of pairs, π(b, c) = Σ_a π(a, b) P(c | a, b), by power iteration from the
// uniform distribution. No row has a zero, so it is unique and the iteration converges to it.
std::vector<double> stationary_pairs(const std::vector<double>& next) {
  constexpr double tolerance = 1e-14;  // of the summed change; rounding of the sums is 1e-16
  constexpr int limit = 100'000;
  std::vector<double> pairs(symbols * symbols, 1.0 / (symbols * symbols));
  for (int step = 0; step < limit; ++step) {
    std::vector<double> moved(pairs.size(), 0.0);
    for (int a = 0; a < symbols; ++a)
      for (int b = 0; b < symbols; ++b)
        for (int c = 0; c < symbols; ++c)
          moved[b * symbols + c] += pairs[a * symbols + b] * next[(a * symbols + b) * symbols + c];
    double change = 0;
    for (size_t i = 0; i < pairs.size(); ++i) change += std::abs(moved[i] - pairs[i]);
    pairs = std::move(moved);
    if (change < tolerance) return pairs;
  }
  throw_error(fmt::format(
      "markov source: the pair distribution still moves after {} steps; take another seed", limit));
}

// −Σ p log(p / total), in nats: a row's term of a conditional entropy.
double entropy_share(std::span<const double> joint) {
  const double total = std::accumulate(joint.begin(), joint.end(), 0.0);
  double share = 0;
  for (const double p : joint)
    if (p > 0) share -= p * kernels::log(p / total);
  return share;
}

// The first symbol whose cumulative probability exceeds u in (0, 1); the last symbol if rounding keeps the
// sum below u.
int pick(std::span<const double> probabilities, double u) {
  int symbol = 0;
  const int last = static_cast<int>(probabilities.size()) - 1;
  for (; symbol < last && u >= probabilities[symbol]; ++symbol) u -= probabilities[symbol];
  return symbol;
}

void check_symbols(int a, int b) {
  check(a >= 0 && a < symbols && b >= 0 && b < symbols, "markov source: symbols {}, {} are not both 0 … {}",
        a, b, symbols - 1);
}

}  // namespace

MarkovSource::MarkovSource(uint64_t seed)
    : next_(draw_rows(Rng(seed).split("markov rows"))),
      pairs_(stationary_pairs(next_)),
      trigram_loss_(0),
      bigram_loss_(0) {
  for (int b = 0; b < symbols; ++b)
    bigram_loss_ += entropy_share(std::span(pairs_).subspan(b * symbols, symbols));
  for (int a = 0; a < symbols; ++a)
    for (int b = 0; b < symbols; ++b) trigram_loss_ += pair(a, b) * entropy_share(next(a, b));
}

std::span<const double> MarkovSource::next(int a, int b) const {
  check_symbols(a, b);
  return std::span(next_).subspan((a * symbols + b) * symbols, symbols);
}

double MarkovSource::pair(int a, int b) const {
  check_symbols(a, b);
  return pairs_[a * symbols + b];
}

// Random number 0 selects the first pair, random number t the symbol at place t ≥ 2.
std::vector<int32_t> MarkovSource::generate(int64_t length, const Rng& rng) const {
  check(length >= 2, "markov source: wanted a length of at least 2, got {}", length);
  std::vector<int32_t> tokens(length);
  const int first = pick(pairs_, rng.uniform_at(0));
  tokens[0] = first / symbols;
  tokens[1] = first % symbols;
  for (int64_t t = 2; t < length; ++t)
    tokens[t] = pick(next(tokens[t - 2], tokens[t - 1]), rng.uniform_at(t));
  return tokens;
}

std::string MarkovSource::letters(std::span<const int32_t> tokens) {
  std::string text;
  text.reserve(tokens.size());
  for (const int32_t token : tokens) {
    check(token >= 0 && token < symbols, "markov source: symbol {} is outside of 0 … {}", token, symbols - 1);
    text.push_back(static_cast<char>('a' + token));
  }
  return text;
}

double MarkovSource::entropy_floor(int64_t block_size) const {
  check(block_size >= 1, "markov source: wanted a block size of at least 1, got {}", block_size);
  const double places = static_cast<double>(block_size);
  return (bigram_loss_ + (places - 1) * trigram_loss_) / places;
}

}  // namespace isobar
