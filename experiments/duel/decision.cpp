#include "decision.h"

#include <cmath>

namespace isobar::duel {
namespace {

// Fixed by simulation (verdict_rates --duels): of 10,000 duels of equals with normal differences 0.86 % are decided within
// 400 pairs, and of those that are 1 sd apart 80 % within 25.
constexpr double constant = 7.75;

// No duel has more.
constexpr int64_t most_pairs = 100'000;

// How many pairs would decide if mean and deviation stay: the boundary grows with each pair, and the interval is
// shorter all the same.
int64_t pairs_needed(double sd, double distance, int64_t pairs, double share) {
  const auto enough = [&](int64_t n) {
    return student_quantile(1 - error_of_end(n, share), n - 1) * sd <=
           distance * std::sqrt(static_cast<double>(n));
  };
  int64_t low = std::max(pairs, first_look(share) - 1), high = most_pairs;
  if (!(distance > 0) || !enough(high)) return 0;
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    (enough(middle) ? high : low) = middle;
  }
  return high;
}

}  // namespace

int64_t first_look(double share) {
  int64_t pairs = 1;
  while (std::exp2(1 - static_cast<double>(pairs)) > claims::error_rate * share) ++pairs;
  return pairs;
}

double error_of_end(int64_t pairs, double share) {
  const auto n = static_cast<double>(pairs);
  const double square = (1 + 2 / n) * (std::log1p(n / 2) + constant - 2 * std::log(share));
  return std::erfc(std::sqrt(square / 2)) / 2;
}

Decision decide(std::span<const double> differences, double margin, double share) {
  check(margin > 0, "margin: wanted more than 0, got {}", margin);
  check(share > 1e-9 && share <= 1, "share: wanted a part of the error rate, above 1e-9 and up to 1, got {}",
        share);
  check(std::ranges::all_of(differences, [](double d) { return std::isfinite(d); }),
        "the difference of a pair is not finite");
  const auto pairs = std::ssize(differences);
  Decision decision{Outcome::undecided, {-claims::infinity, claims::infinity}};
  if (pairs < first_look(share)) return decision;
  const Spread spread = spread_of(differences);
  decision.doubt = claims::doubt_about(spread, false);
  decision.interval = {spread.min, spread.max};
  if (decision.doubt != claims::Doubt::none) return decision;
  decision.interval = claims::safe_mean_interval(spread, error_of_end(pairs, share), false);
  const auto [low, high] = decision.interval;
  const auto [mean, sd] = spread.linear;
  if (low >= -margin && high <= margin)
    decision.outcome = Outcome::equal;
  else if (high < 0)
    decision.outcome = Outcome::better;
  else if (low > 0)
    decision.outcome = Outcome::worse;
  else
    for (const double distance : {std::abs(mean), margin - std::abs(mean)})
      if (const int64_t needed = pairs_needed(sd, distance, pairs, share);
          needed > 0 && (decision.needed == 0 || needed < decision.needed))
        decision.needed = needed;
  return decision;
}

}  // namespace isobar::duel
