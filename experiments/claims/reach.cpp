#include "reach.h"

#include <numeric>

namespace isobar::claims {
namespace {

double variance_of_mean(const Spread& rung) {
  return rung.linear.sd * rung.linear.sd / static_cast<double>(rung.n);
}

bool has_moments(const Spread& rung) { return rung.n > 1 && rung.nonfinite == 0; }

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// The straight line through the rungs' means, each weighted by its seeds: value(x) = height + slope (x − centre).
struct Line {
  double centre = 0, height = 0, slope = 0, seeds = 0, moment = 0;  // moment: Σ n (x − centre)²

  Line(const std::vector<double>& x, const std::vector<Spread>& rungs) {
    for (size_t i = 0; i < x.size(); ++i) {
      const auto n = static_cast<double>(rungs[i].n);
      seeds += n;
      centre += n * x[i];
      height += n * rungs[i].linear.mean;
    }
    centre /= seeds;
    height /= seeds;
    double product = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      const double away = x[i] - centre, n = static_cast<double>(rungs[i].n);
      moment += n * away * away;
      product += n * away * rungs[i].linear.mean;
    }
    slope = product / moment;
  }
  double at(double x) const { return height + slope * (x - centre); }
};

// How far the rungs' means scatter about the line, in variances of their means: 1 in the mean where seeds are all
// that scatters; with the variance of one seed, pooled over the rungs.
struct Scatter {
  double variance = 0, of_rungs = 0;  // of_rungs: the sum over the rungs, of n − 2 degrees of freedom
  int64_t degrees = 0;                // of the variance

  Scatter(const Line& line, const std::vector<double>& x, const std::vector<Spread>& rungs) {
    for (const Spread& rung : rungs) {
      variance += static_cast<double>(rung.n - 1) * rung.linear.sd * rung.linear.sd;
      degrees += rung.n - 1;
    }
    variance /= static_cast<double>(degrees);
    for (size_t i = 0; i < x.size() && variance > 0; ++i) {
      const double away = rungs[i].linear.mean - line.at(x[i]);
      of_rungs += static_cast<double>(rungs[i].n) * away * away / variance;
    }
  }
};

void check_rungs(const std::vector<double>& x, const std::vector<Spread>& rungs) {
  check(x.size() == rungs.size() && x.size() >= 3,
        "a ladder: wanted 3 rungs or more, each with its compute, "
        "got {} rungs and {} of compute",
        rungs.size(), x.size());
  check(std::ranges::adjacent_find(x, std::greater_equal()) == x.end(),
        "a ladder: its compute must increase");
}

// The slope is a sum of the rungs' means with fixed factors, so its variance is a sum too, and its degrees of
// freedom are Welch's. Where rungs scatter about the line by more than their seeds, the interval is longer.
void find_trend(Reach& reach, const std::vector<double>& x, const std::vector<Spread>& rungs) {
  if (!std::ranges::all_of(rungs, has_moments)) return;
  const double centre = mean_of(x);
  double squares = 0, variance = 0, by_degrees = 0, height = 0;
  for (const double at : x) squares += (at - centre) * (at - centre);
  for (size_t i = 0; i < x.size(); ++i) {
    const double factor = (x[i] - centre) / squares, part = factor * factor * variance_of_mean(rungs[i]);
    reach.slope += factor * rungs[i].linear.mean;
    height += rungs[i].linear.mean / static_cast<double>(x.size());
    variance += part;
    by_degrees += part * part / static_cast<double>(rungs[i].n - 1);
  }
  reach.slope_interval = {reach.slope, reach.slope};
  if (variance == 0) return;
  const Line line(x, rungs);
  const double scatter = Scatter(line, x, rungs).of_rungs / static_cast<double>(x.size() - 2);
  const auto degrees = std::max<int64_t>(1, static_cast<int64_t>(variance * variance / by_degrees));
  const double half =
      student_quantile(1 - error_rate / 2, degrees) * std::sqrt(variance * std::max(1.0, scatter));
  reach.slope_interval = {reach.slope - half, reach.slope + half};
  if (reach.slope_interval.contains(0)) return;
  // Away from 0 or towards it; a line that crosses 0 between the rungs does neither.
  const double first = height + reach.slope * (x.front() - centre),
               last = height + reach.slope * (x.back() - centre);
  if (first * last <= 0) return;
  (std::abs(last) > std::abs(first) ? reach.grows : reach.fades) = true;
}

}  // namespace

Reach reach_of(const Predicate& predicate, const std::vector<double>& log2_compute,
               const std::vector<Spread>& rungs) {
  check_rungs(log2_compute, rungs);
  Reach reach;
  for (const Spread& rung : rungs) reach.rungs.push_back(read(predicate, rung, 1));
  find_trend(reach, log2_compute, rungs);
  const auto all = [&](PartOutcome wanted) {
    return std::ranges::all_of(reach.rungs, [&](const Reading& rung) { return rung.outcome == wanted; });
  };
  reach.word = all(PartOutcome::holds)   ? ReachWord::holds
               : all(PartOutcome::fails) ? ReachWord::fails
               : reach.grows             ? ReachWord::grows
               : reach.fades             ? ReachWord::fades
                                         : ReachWord::undecided;
  // One wrong rung would make a flip, so that the rungs share the error rate.
  std::optional<std::pair<size_t, PartOutcome>> before;  // the last rung that was decided
  for (size_t i = 0; i < rungs.size(); ++i) {
    const PartOutcome outcome = read(predicate, rungs[i], std::ssize(rungs)).outcome;
    if (outcome != PartOutcome::holds && outcome != PartOutcome::fails) continue;
    if (before && before->second != outcome) {
      reach.word = ReachWord::flips;
      reach.before = before->first;
      reach.after = i;
      break;
    }
    before = {i, outcome};
  }
  return reach;
}

Phrase text_of(const Reach& reach, const std::vector<Phrase>& rung_names) {
  const Phrase from_to = filled({"{} to {}", "{} 至 {}"}, rung_names.front(), rung_names.back()),
               trend = reach.grows   ? Phrase{", and moves away from 0 with size", "，且随规模远离 0"}
                       : reach.fades ? Phrase{", and moves towards 0 with size", "，且随规模趋近 0"}
                                     : Phrase();
  if (reach.word == ReachWord::holds)
    return filled({"holds at all sizes, {}", "在所有规模上成立，{}"}, from_to) + trend;
  if (reach.word == ReachWord::fails)
    return filled({"fails at all sizes, {}", "在所有规模上不成立，{}"}, from_to) + trend;
  if (reach.word == ReachWord::flips)
    return filled({"flips between {} and {}", "在 {} 与 {} 之间翻转"}, rung_names.at(reach.before),
                  rung_names.at(reach.after));
  const Phrase word = reach.word == ReachWord::grows ? Phrase{"moves away from 0 with size", "随规模远离 0"}
                      : reach.word == ReachWord::fades ? Phrase{"moves towards 0 with size", "随规模趋近 0"}
                                                       : Phrase{"not decided", "未定"};
  // At how many sizes it has each outcome; what is none of the first three is open.
  int64_t others = std::ssize(reach.rungs);
  Phrase counts;
  const auto add = [&](const Phrase& text, int64_t rungs) {
    if (rungs == 0) return;
    counts += (counts.en.empty() ? Phrase() : Phrase{", ", "，"}) + filled(text, rungs);
    others -= rungs;
  };
  for (const auto& [outcome, text] : {std::pair{PartOutcome::holds, Phrase{"holds at {}", "{} 个成立"}},
                                      {PartOutcome::fails, Phrase{"fails at {}", "{} 个不成立"}},
                                      {PartOutcome::equal, Phrase{"no difference at {}", "{} 个无差别"}}})
    add(text, std::ranges::count(reach.rungs, outcome, &Reading::outcome));
  add({"open at {}", "{} 个未定"}, others);
  return word + filled({" ({} sizes, {}: {})", "（{} 个规模，{}：{}）"}, reach.rungs.size(), from_to, counts);
}

std::vector<Foretold> foretell(const std::vector<Ladder>& ladders, double log2_compute, int64_t seeds) {
  // What one ladder's few rungs say of their scatter is mixed with what all say, as four degrees of freedom.
  constexpr double of_all = 4;
  double sum = 0, degrees = 0;
  std::vector<Line> lines;
  std::vector<Scatter> scatters;
  for (const auto& [x, rungs] : ladders) {
    check_rungs(x, rungs);
    check(std::ranges::all_of(rungs, has_moments), "a ladder: wanted two finite values or more on each rung");
    lines.emplace_back(x, rungs);
    scatters.emplace_back(lines.back(), x, rungs);
    sum += scatters.back().of_rungs;
    degrees += static_cast<double>(x.size() - 2);
  }
  std::vector<Foretold> all;
  for (size_t i = 0; i < ladders.size(); ++i) {
    const Line& line = lines[i];
    const auto rungs = static_cast<double>(ladders[i].rungs.size());
    const double own = of_all + rungs - 2,
                 scatter = std::max(1.0, (of_all * sum / degrees + scatters[i].of_rungs) / own),
                 away = log2_compute - line.centre, per_rung = line.seeds / rungs;
    // Of the mean of the new seeds, of the line there, and of the new rung about the line.
    const double variance = scatters[i].variance * (1 / static_cast<double>(seeds) +
                                                    scatter * (1 / line.seeds + away * away / line.moment) +
                                                    (scatter - 1) / per_rung);
    const double half = student_quantile(0.975, static_cast<int64_t>(own)) * std::sqrt(variance);
    all.push_back({line.at(log2_compute), {line.at(log2_compute) - half, line.at(log2_compute) + half}});
  }
  return all;
}

}  // namespace isobar::claims
