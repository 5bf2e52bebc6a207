#include "../../data/synthetic.h"

#include <doctest/doctest.h>

#include <cmath>

#include "../../data/text.h"

namespace isobar::synthetic_test {

constexpr int symbols = MarkovSource::symbols;

double entropy(const std::vector<double>& probabilities) {
  double sum = 0;
  for (const double p : probabilities) sum -= p > 0 ? p * std::log(p) : 0;
  return sum;
}

TEST_CASE("markov rows and pairs sum to one") {
  const MarkovSource source;
  double all_pairs = 0;
  for (int a = 0; a < symbols; ++a)
    for (int b = 0; b < symbols; ++b) {
      double row = 0;
      for (const double p : source.next(a, b)) {
        CHECK(p > 0);
        row += p;
      }
      CHECK(row == doctest::Approx(1).epsilon(1e-14));
      all_pairs += source.pair(a, b);
    }
  CHECK(all_pairs == doctest::Approx(1).epsilon(1e-13));
}

// Over 5,120 rows. Of Dirichlet(0.3) over 16 symbols: the variance of a probability is
// (1/16)(15/16)/(16 · 0.3 + 1), the mean entropy ψ(5.8) − ψ(1.3) = 1.838372, with ψ the digamma function.
TEST_CASE("markov rows are draws from Dirichlet(0.3)") {
  double squares = 0, entropies = 0, entropy_squares = 0, square_squares = 0;
  int rows = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const MarkovSource source(seed);
    for (int a = 0; a < symbols; ++a)
      for (int b = 0; b < symbols; ++b, ++rows) {
        const auto row = source.next(a, b);
        double deviation = 0;
        for (const double p : row) deviation += (p - 1.0 / 16) * (p - 1.0 / 16) / 16;
        const double bits = entropy({row.begin(), row.end()});
        squares += deviation;
        square_squares += deviation * deviation;
        entropies += bits;
        entropy_squares += bits * bits;
      }
  }
  // Four standard errors of the mean, measured on the rows themselves.
  const auto four_errors = [&](double sum, double sum_of_squares) {
    return 4 * std::sqrt((sum_of_squares / rows - sum / rows * (sum / rows)) / rows);
  };
  CHECK(std::abs(squares / rows - 15.0 / 256 / 5.8) < four_errors(squares, square_squares));
  CHECK(std::abs(entropies / rows - 1.838372) < four_errors(entropies, entropy_squares));
}

TEST_CASE("markov pairs stay as they are after one more symbol") {
  const MarkovSource source;
  for (int b = 0; b < symbols; ++b)
    for (int c = 0; c < symbols; ++c) {
      double moved = 0;
      for (int a = 0; a < symbols; ++a) moved += source.pair(a, b) * source.next(a, b)[c];
      CHECK(moved == doctest::Approx(source.pair(b, c)).epsilon(1e-10));
    }
}

// The chain rule, from the joint distribution of three symbols in a row:
// H(x1 | x0) + H(x2 | x0, x1) = H(x0, x1, x2) − H(x0).
TEST_CASE("markov floors are the conditional entropies of the joint distribution") {
  const MarkovSource source;
  std::vector<double> one(symbols), two, three;
  for (int a = 0; a < symbols; ++a)
    for (int b = 0; b < symbols; ++b) {
      one[a] += source.pair(a, b);
      two.push_back(source.pair(a, b));
      for (const double p : source.next(a, b)) three.push_back(source.pair(a, b) * p);
    }
  CHECK(source.bigram_loss() == doctest::Approx(entropy(two) - entropy(one)).epsilon(1e-12));
  CHECK(source.entropy_floor(1) == source.bigram_loss());
  CHECK(2 * source.entropy_floor(2) == doctest::Approx(entropy(three) - entropy(one)).epsilon(1e-12));
  // Ten places: in the first the model sees one symbol, in nine both.
  CHECK(10 * source.entropy_floor(10) ==
        doctest::Approx(entropy(two) - entropy(one) + 9 * (entropy(three) - entropy(two))).epsilon(1e-12));
}

// The true model's loss on a long text. The surprisal's std is about 1.3 nats and neighbours hardly
// correlate: 0.002 on 400,000 tokens; 0.01 is five of them.
TEST_CASE("markov texts cost what the entropies say") {
  const MarkovSource source;
  constexpr int64_t length = 400'000;
  const auto tokens = source.generate(length, Rng(11));
  double loss = 0;
  for (int64_t t = 2; t < length; ++t) loss -= std::log(source.next(tokens[t - 2], tokens[t - 1])[tokens[t]]);
  const double both = 2 * source.entropy_floor(2) - source.bigram_loss();  // H(c | a, b)
  CHECK(loss / (length - 2) == doctest::Approx(both).epsilon(0.01 / both));
}

// 20,000 texts: each pair at the start within five binomial standard errors of its probability.
TEST_CASE("markov texts start in the stationary distribution") {
  const MarkovSource source;
  constexpr int texts = 20'000;
  std::vector<double> at_start(symbols * symbols);
  for (int i = 0; i < texts; ++i) {
    const auto tokens = source.generate(2, Rng(12).split(i));
    at_start[tokens[0] * symbols + tokens[1]] += 1.0 / texts;
  }
  for (int a = 0; a < symbols; ++a)
    for (int b = 0; b < symbols; ++b) {
      const double p = source.pair(a, b);
      const double allowed = 5 * std::sqrt(p * (1 - p) / texts) + 1.0 / texts;
      CAPTURE(a);
      CAPTURE(b);
      CHECK(std::abs(at_start[a * symbols + b] - p) < allowed);
    }
}

TEST_CASE("markov texts and sources are pure functions of their keys") {
  const MarkovSource source;
  CHECK(source.generate(100, Rng(1)) == source.generate(100, Rng(1)));
  CHECK(source.generate(100, Rng(1)) != source.generate(100, Rng(2)));
  const auto longer = source.generate(200, Rng(1));
  CHECK(std::vector(longer.begin(), longer.begin() + 100) == source.generate(100, Rng(1)));
  CHECK(MarkovSource(1).bigram_loss() == source.bigram_loss());
  CHECK(MarkovSource(2).bigram_loss() != source.bigram_loss());
}

TEST_CASE("markov letters make a corpus whose tokens are the symbols") {
  const MarkovSource source;
  const auto tokens = source.generate(5000, Rng(1));
  const TextCorpus corpus = TextCorpus::from_text(MarkovSource::letters(tokens), "char");
  CHECK(corpus.tokenizer->vocab_size() == symbols);
  CHECK(corpus.tokens == tokens);
}

TEST_CASE("markov source refuses what it does not have") {
  const MarkovSource source;
  CHECK_THROWS_WITH_AS(source.generate(1, Rng(1)), "markov source: wanted a length of at least 2, got 1",
                       Error);
  CHECK_THROWS_WITH_AS(source.entropy_floor(0), "markov source: wanted a block size of at least 1, got 0",
                       Error);
  CHECK_THROWS_WITH_AS(source.next(0, 16), "markov source: symbols 0, 16 are not both 0 … 15", Error);
  CHECK_THROWS_WITH_AS(source.pair(-1, 0), "markov source: symbols -1, 0 are not both 0 … 15", Error);
  const std::vector<int32_t> strange{16};
  CHECK_THROWS_WITH_AS(MarkovSource::letters(strange), "markov source: symbol 16 is outside of 0 … 15",
                       Error);
}

}  // namespace isobar::synthetic_test
