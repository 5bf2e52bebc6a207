#include "why.h"

#include "../../nn/observe.h"
#include "../lm/watching/losses.h"
#include "../run/table.h"

namespace isobar::duel {
namespace {

using claims::filled;

double mean_of(const std::vector<double>& values) { return spread_of(values).linear.mean; }

// The mean training loss of the steps between two shares of all, over the pairs.
double loss_between(const Side& side, double from, double to) {
  std::vector<double> means;
  for (const Trained& trained : side.trained) {
    const auto steps = static_cast<double>(trained.losses.size());
    const auto begin = trained.losses.begin() + static_cast<std::ptrdiff_t>(from * steps),
               end = trained.losses.begin() + static_cast<std::ptrdiff_t>(to * steps);
    if (begin < end) means.push_back(mean_of({begin, end}));
  }
  return mean_of(means);
}

struct Search {
  const Findings& found;
  const Side &loser = found.loser(), &winner = found.winner();
  const double difference = std::abs(found.mean_difference());
  std::vector<Reason> reasons = {};

  void add(const char* name, bool explains, Phrase text) {
    reasons.push_back({name, explains, std::move(text)});
  }

  void breaking_off() {
    const auto broken = [](const Side& side) {
      return std::ranges::count(side.trained, true, &Trained::diverged);
    };
    if (broken(loser) > broken(winner))
      add("broken", true,
          filled({"{} of {} trainings of {} broke off: a loss or gradient was not finite",
                  "{2} 的 {1} 次训练中有 {0} 次中断：损失或梯度不是有限值"},
                 fmt::format("{}", broken(loser)), fmt::format("{}", loser.trained.size()), loser.label()));
  }

  // Of the search for rates: its ladder ends, or the winner's rate is one that the loser does not bear.
  void rates() {
    if (loser.sweep.losses.size() < 2) return;
    if (loser.sweep.at_edge())
      add("edge", true,
          filled({"the best rate of {}, {}, is the last of the ladder: a better one may lie beyond",
                  "{} 的最佳学习率 {} 位于搜索范围的边缘：范围之外可能还有更好的"},
                 loser.label(), fmt::format("{}", loser.rate)));
    const auto at_losers = winner.sweep.losses.find(loser.rate);
    if (loser.rate == winner.rate || at_losers == winner.sweep.losses.end()) {
      add("learning_rate", false, {"both are best at the same rate", "两者的最佳学习率相同"});
      return;
    }
    const double best_of_loser = loser.sweep.losses.at(loser.rate),
                 apart = best_of_loser - winner.sweep.losses.at(winner.rate),
                 at_one_rate = best_of_loser - at_losers->second;
    const bool explains = apart > 0 && at_one_rate < apart / 2;
    Phrase text =
        filled({"at {}, the best rate of {}, {} is better by {} nats in place of {}",
                "在 {}（{} 的最佳学习率）下，{} 只好 {} 纳特，而不是 {}"},
               fmt::format("{}", loser.rate), loser.label(), winner.label(), nats(at_one_rate), nats(apart));
    if (loser.largest_stable_rate < winner.rate)
      text += filled({"; at {}, that of {}, {} does not learn", "；在 {}（{} 的最佳学习率）下，{} 学不会"},
                     fmt::format("{}", winner.rate), winner.label(), loser.label());
    add("learning_rate", explains, text);
  }

  void gains(const std::function<std::vector<Trained>(double, double)>& train_loser) {
    const double ratio = winner.gain / loser.gain;
    if (!std::isfinite(ratio) || ratio <= 0) return;
    if (std::abs(std::log(ratio)) < std::log(1.1)) {
      add("gain", false, {"their norms begin with the same gain", "两者的归一化层初始增益相同"});
      return;
    }
    double least = claims::infinity, before = 0;
    size_t pairs = 0;
    for (const double rate : std::set{loser.rate, winner.rate}) {
      const std::vector<Trained> scaled = train_loser(rate, ratio);
      std::vector<double> now, was;
      for (size_t i = 0; i < scaled.size(); ++i) {
        now.push_back(scaled[i].val_loss - winner.trained[i].val_loss);
        was.push_back(loser.trained[i].val_loss - winner.trained[i].val_loss);
      }
      least = std::min(least, mean_of(now));
      before = mean_of(was);
      pairs = scaled.size();
    }
    add("gain", before > 0 && least < before / 2,
        filled(
            {"with its norms' outputs multiplied by {}, so that both begin with the same gain, {} minus {} is {} "
             "nats in place of {} ({} pairs)",
             "把 {1} 的归一化层输出乘以 {0}，使两者初始增益相同，{1} 减 {2} 就是 {3} 纳特，而不是 {4}（{5} 对）"},
            number_text(ratio), loser.label(), winner.label(), signed_nats(least), signed_nats(before),
            fmt::format("{}", pairs)));
  }

  // The gradient that reaches the first block, beside that at the last one.
  void gradient() {
    const auto ratio_of = [](const Side& side) {
      return spread_over(side.trained, [](const Trained& t) { return gradient_ratio(t.start); }).median;
    };
    const double of_loser = ratio_of(loser), of_winner = ratio_of(winner);
    if (!(of_loser > 0 && of_winner > 0)) return;
    const double apart = std::abs(std::log(of_loser)) - std::abs(std::log(of_winner));
    add("gradient", apart > std::log(10.0),
        filled(
            {"before training the gradient at the first block is {} times that at the last one in {}, {} times in {}",
             "训练前，{1} 首块的梯度是末块的 {0} 倍，{3} 是 {2} 倍"},
            number_text(of_loser), loser.label(), number_text(of_winner), winner.label()));
  }

  void lateness() {
    const double half_way = loss_between(loser, 0.4, 0.6) - loss_between(winner, 0.4, 0.6),
                 at_end = loss_between(loser, 0.9, 1) - loss_between(winner, 0.9, 1);
    if (!std::isfinite(half_way) || !std::isfinite(at_end)) return;
    add("late", half_way > 0 && at_end < half_way / 2,
        filled({"half way {} is behind by {} nats, at the end by {}{}",
                "训练到一半时 {} 落后 {} 纳特，结束时落后 {}{}"},
               loser.label(), nats(half_way), nats(at_end),
               half_way > 0 && at_end < half_way / 2
                   ? Phrase{": it learns later, and more steps may close the rest",
                            "：它学得较晚，增加步数或可消除差距"}
                   : Phrase{""}));
  }
};

}  // namespace

double gain_of(const Contestant& contestant, int64_t width) {
  if (contestant.norm == "none") return NAN;
  const Tensor x = Rng(0).split("gain").normal({64, width});
  const NoTape pause;
  return moments_of((*norm_of(contestant, width))(x)).rms / moments_of(x).rms;
}

std::pair<Spread, Spread> steps_to_loss(const Findings& found) {
  std::vector<double> a, b;
  for (size_t i = 0; i < found.a.trained.size(); ++i) {
    const std::vector<double>&of_a = found.a.trained[i].losses, &of_b = found.b.trained[i].losses;
    const double target = std::max(last_mean(of_a), last_mean(of_b));
    a.push_back(steps_until(of_a, target));
    b.push_back(steps_until(of_b, target));
  }
  return {spread_of(a), spread_of(b)};
}

std::vector<Reason> reasons_of(
    const Findings& found, const std::function<std::vector<Trained>(double rate, double gain)>& train_loser) {
  if (found.decision.outcome != Outcome::better && found.decision.outcome != Outcome::worse) return {};
  Search search{found};
  search.breaking_off();
  search.rates();
  search.gains(train_loser);
  search.gradient();
  search.lateness();
  return search.reasons;
}

}  // namespace isobar::duel
