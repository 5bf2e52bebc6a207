#include "over_settings.h"

#include <numeric>
#include <span>

#include "../page/charts/shapes.h"

namespace isobar::claims {
namespace {

constexpr size_t fewest_degrees = 4;
// Of either end of a level's interval where all levels must be decided alike: the word is wrong only if all are, which
// is rarer than 1 %.
constexpr double level_error = 0.025;

int64_t settings_with(const SettingsFactor& factor, size_t level) {
  return std::ranges::count(factor.of_setting, level);
}

size_t degrees_of(const std::vector<SettingsFactor>& factors, size_t settings) {
  size_t used = 1;
  for (const SettingsFactor& factor : factors) used += factor.levels.size() - 1;
  return settings > used ? settings - used : 0;
}

double mean_over(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// The mean of those settings that have the level.
double level_mean(const std::vector<double>& means, const SettingsFactor& factor, size_t level) {
  double sum = 0;
  for (size_t i = 0; i < means.size(); ++i) sum += factor.of_setting[i] == level ? means[i] : 0;
  return sum / static_cast<double>(settings_with(factor, level));
}

// The variance of a setting's mean about mean + Σ effects of its levels. In a balanced design an effect is the mean of a
// level minus the mean of all.
double scatter_of(const std::vector<double>& means, const std::vector<SettingsFactor>& factors) {
  const double mean = mean_over(means);
  double squares = 0;
  for (const double one : means) squares += (one - mean) * (one - mean);
  for (const SettingsFactor& factor : factors)
    for (size_t level = 0; level < factor.levels.size(); ++level) {
      const double effect = level_mean(means, factor, level) - mean;
      squares -= static_cast<double>(settings_with(factor, level)) * effect * effect;
    }
  return std::max(0.0, squares) / static_cast<double>(degrees_of(factors, means.size()));
}

double seeds_variance(const Spread& setting) {
  return setting.linear.sd * setting.linear.sd / static_cast<double>(setting.n);
}

// A setting whose seeds all gave one value, as where both nets diverged, would have all the weight: it counts as if its
// variance were a hundredth of the others' mean.
std::vector<Spread> with_some_spread(std::vector<Spread> settings) {
  double squares = 0;
  for (const Spread& setting : settings) squares += setting.linear.sd * setting.linear.sd;
  const double least = std::sqrt(0.01 * squares / static_cast<double>(settings.size()));
  for (Spread& setting : settings) setting.linear.sd = std::max(setting.linear.sd, least);
  return settings;
}

bool decided(PartOutcome outcome) {
  return outcome == PartOutcome::holds || outcome == PartOutcome::fails || outcome == PartOutcome::equal;
}

// Its variance is that of its seeds, or that by which settings scatter, whichever is larger.
LevelReading mean_of_level(const SettingsFactor& factor, size_t level, const std::vector<double>& means,
                           const std::vector<Spread>& settings, double scatter) {
  LevelReading of{.factor = 0, .level = level, .mean = level_mean(means, factor, level)};
  of.settings = settings_with(factor, level);
  const auto n = static_cast<double>(of.settings);
  double seeds = 0;
  for (size_t i = 0; i < means.size(); ++i)
    if (factor.of_setting[i] == level) seeds += seeds_variance(settings[i]), of.pairs += settings[i].n;
  of.variance = std::max(scatter, seeds / n) / n;
  return of;
}

}  // namespace

void check_balanced(const std::vector<SettingsFactor>& factors, size_t settings) {
  for (const SettingsFactor& a : factors) {
    check(a.of_setting.size() == settings, "settings: the factor '{}' has {} of the {} settings", a.name.en,
          a.of_setting.size(), settings);
    for (const SettingsFactor& b : factors) {
      if (&a == &b) continue;
      for (size_t i = 0; i < a.levels.size(); ++i)
        for (size_t j = 0; j < b.levels.size(); ++j) {
          int64_t both = 0;
          for (size_t k = 0; k < settings; ++k) both += a.of_setting[k] == i && b.of_setting[k] == j;
          check(both * static_cast<int64_t>(settings) == settings_with(a, i) * settings_with(b, j),
                "settings: '{}' and '{}' are not balanced: {} settings have {} and {}, wanted {} · {} / {}",
                a.name.en, b.name.en, both, a.levels[i].en, b.levels[j].en, settings_with(a, i),
                settings_with(b, j), settings);
        }
    }
  }
  check(degrees_of(factors, settings) >= fewest_degrees,
        "settings: {} settings and factors of {} levels in all leave {} degrees of freedom, wanted {}",
        settings,
        std::accumulate(factors.begin(), factors.end(), size_t{0},
                        [](size_t sum, const SettingsFactor& f) { return sum + f.levels.size(); }),
        degrees_of(factors, settings), fewest_degrees);
}

std::vector<SettingsFactor> factors_from(const Json& summary) {
  const auto phrase = [](const Json& both) {
    return Phrase{both.at("en").get<std::string>(), both.value("zh", "")};
  };
  std::vector<SettingsFactor> factors;
  try {
    for (const Json& name : summary.at("factors"))
      factors.push_back({.name = phrase(name), .levels = {}, .of_setting = {}});
    for (const Json& setting : summary.at("settings")) {
      check(setting.at("levels").size() == factors.size(), "settings: wanted {} levels of each, got {}",
            factors.size(), setting["levels"].size());
      for (size_t f = 0; f < factors.size(); ++f) {
        std::vector<Phrase>& levels = factors[f].levels;
        const Phrase level = phrase(setting["levels"][f]);
        const auto known = std::ranges::find(levels, level);
        factors[f].of_setting.push_back(static_cast<size_t>(known - levels.begin()));
        if (known == levels.end()) levels.push_back(level);
      }
    }
  } catch (const Json::exception& error) {
    throw_error(fmt::format("settings: the run does not say its factors and settings: {}", error.what()));
  }
  return factors;
}

OverSettings read_settings(const Predicate& predicate, const std::vector<SettingsFactor>& factors,
                           const std::vector<Spread>& settings) {
  check(predicate.rule == Rule::mean && !predicate.log, "settings: wanted the rule mean, without log");
  check_balanced(factors, settings.size());
  OverSettings over;
  std::vector<double> all;
  for (const Spread& setting : settings) {
    over.marks.push_back(read(predicate, setting, 1).outcome);
    all.insert(all.end(), setting.values.begin(), setting.values.end());
  }
  const Spread pairs = spread_of(all);
  const bool finite = std::ranges::all_of(
      settings, [](const Spread& setting) { return setting.n > 1 && setting.nonfinite == 0; });
  if (!finite || pairs.min == pairs.max) {
    over.reading = read(predicate, pairs, 1);
    over.mean = pairs.linear.mean;
    return over;
  }

  const Pooled pooled = pooled_mean(with_some_spread(settings), error_rate / 2);
  over.mean = pooled.mean;
  over.reading = {outcome_of_interval(predicate, pooled.interval), pooled.interval, pairs.n};

  std::vector<double> means;
  for (const Spread& setting : settings) means.push_back(setting.linear.mean);
  const double scatter = scatter_of(means, factors);
  const auto degrees = static_cast<int64_t>(degrees_of(factors, settings.size()));
  for (size_t f = 0; f < factors.size(); ++f) {
    const SettingsFactor& factor = factors[f];
    if (factor.levels.size() < 2) continue;
    const auto ends = static_cast<double>(2 * factors.size() * factor.levels.size());
    const double once = student_quantile(1 - level_error, degrees),
                 shared = student_quantile(1 - error_rate / ends, degrees);
    const size_t first = over.levels.size();
    for (size_t level = 0; level < factor.levels.size(); ++level) {
      LevelReading one = mean_of_level(factor, level, means, settings, scatter);
      const auto around = [&](double t) {
        const double half = t * std::sqrt(one.variance);
        return Range{one.mean - half, one.mean + half};
      };
      one.factor = f;
      one.interval = around(once);
      one.outcome = outcome_of_interval(predicate, one.interval);
      one.shared = outcome_of_interval(predicate, around(shared));
      over.levels.push_back(one);
    }
    const std::span<const LevelReading> levels = std::span(over.levels).subspan(first);
    const auto differ = [&](const LevelReading& x, const LevelReading& y) {
      return decided(x.shared) && decided(y.shared) && x.shared != y.shared &&
             std::abs(x.mean - y.mean) > shared * std::sqrt(x.variance + y.variance);
    };
    if (std::ranges::any_of(levels, [&](const LevelReading& x) {
          return std::ranges::any_of(levels, [&](const LevelReading& y) { return differ(x, y); });
        }))
      over.depends_on.push_back(f);
  }

  PartOutcome& outcome = over.reading.outcome;
  if (!over.depends_on.empty()) {
    outcome = PartOutcome::depends;
    return over;
  }
  for (size_t i = 0; i < over.levels.size() && decided(outcome); ++i)
    if (over.levels[i].outcome != outcome) {
      over.open_level = i;
      outcome = PartOutcome::too_few_seeds;
    }
  return over;
}

std::string strip_of(const std::vector<PartOutcome>& marks) {
  std::string strip;
  for (const PartOutcome mark : marks)
    strip += mark == PartOutcome::holds   ? '+'
             : mark == PartOutcome::fails ? '-'
             : mark == PartOutcome::equal ? '='
                                          : '.';
  return strip;
}

Phrase count_of(const std::vector<PartOutcome>& marks) {
  const auto count = std::ranges::count(marks, PartOutcome::holds);
  return filled({"{} of {}", "{} / {}"}, count, marks.size());
}

Phrase text_of(const OverSettings& over, size_t factor, const std::vector<SettingsFactor>& factors) {
  std::vector<Phrase> texts;
  for (const LevelReading& level : over.levels) {
    if (level.factor != factor) continue;
    const Phrase& name = factors[factor].levels[level.level];
    const Phrase word = level.shared == PartOutcome::holds   ? Phrase{"holds at {}", "{} 时成立"}
                        : level.shared == PartOutcome::fails ? Phrase{"does not hold at {}", "{} 时不成立"}
                        : level.shared == PartOutcome::equal ? Phrase{"no difference at {}", "{} 时无差别"}
                                                             : Phrase{"open at {}", "{} 时未定"};
    texts.push_back(filled(word, name));
  }
  return factors[factor].name + Phrase{": ", "："} + charts::joined(texts, ", ");
}

}  // namespace isobar::claims
