// Rules: how a part of a claim reads values measured over seeds. rules.md here has the rules and their error
// rate. A value has one interval, whoever asks: its error rate of `error_rate` is shared by both ends, and by its looks, of
// which the j-th spends 1/(j (j + 1)). A printed table shares it among its values.
//
// The intervals are those of shape.h.
#pragma once

#include "../page/charts/plot.h"
#include "shape.h"

namespace isobar::claims {

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double error_rate = 0.01;

enum class Rule { every_seed, mean, one_more_seed, time, median };
inline const std::vector<std::string> rule_words = {"every_seed", "mean", "one_more_seed", "time", "median"};

struct Predicate {
  Rule rule = Rule::every_seed;
  double low = -infinity, high = infinity;  // equal for one_more_seed: the printed value
  bool log = false;                         // of logarithms: a positive quantity that spreads over decades
  // Of one bound: the interval that reaches beyond it by less than the margin, to both sides, says "no difference".
  double margin = 0;
};

// `depends`: over settings, which differ (over_settings.h).
enum class PartOutcome { holds, fails, equal, too_few_seeds, busy, not_normal, depends };

struct Reading {
  PartOutcome outcome;
  Range interval;  // of the mean, or of one more seed; the range of the values for every_seed
  int64_t n;       // finite values
  Doubt doubt = Doubt::none;
  bool assumes_normal = false;  // decided by fewer seeds than show their skewness
  int64_t counted = 0;          // of median with one bound: how many values lie in it
};

// So many values are `sharing` one error rate: those of a printed table; `look` counts the looks at this value from 1. A
// NaN fails every rule. An infinity keeps its sign, for every_seed; a mean that it leaves without a bound is open.
Reading read(const Predicate& predicate, const Spread& seeds, int64_t sharing, int64_t look = 1,
             bool busy = false);

// Whether an interval of a mean lies within the bounds, beyond them, or, of one bound, about it within the margin; else
// too few seeds.
PartOutcome outcome_of_interval(const Predicate& predicate, const Range& interval);

// The same as read() of all rungs of a ladder, by the rule mean: their mean by random effects. Rungs get no new seeds, so
// that there is one look.
Reading read_rungs(const Predicate& predicate, const std::vector<Spread>& rungs);

// How many seeds would settle at the next look what `look` left open, if mean and deviation stay; 0: unknown.
int64_t seeds_needed(const Predicate& predicate, const Spread& seeds, int64_t sharing, int64_t look = 1);

// Where every seed lies more than five times the width of the bounds outside of them: a warning, with the bounds that
// the author may have meant where some hold: around 1 for 0 or 0 for 1, in percent, or of the inverse. Else empty.
Phrase far_miss(const Predicate& predicate, const Spread& seeds);

// The bounds of "above x" and "below x": x itself, where a count may lie, is outside.
inline double just_above(double x) { return std::nextafter(x, infinity); }
inline double just_below(double x) { return std::nextafter(x, -infinity); }
// The x of such a bound; of another bound itself.
double bound_shown(double bound);

// In words: "every seed at most 1e-12", "mean 0.9 to 1.1", "mean above 0, margin 0.01", "0.8932 as one more seed".
Phrase text_of(const Predicate& predicate);
// The phrase with these texts, phrases and numbers in place of its {}.
template <class... T>
Phrase filled(const Phrase& phrase, const T&... parts) {
  const auto in = [](bool chinese, const auto& part) -> const auto& {
    if constexpr (std::same_as<decltype(part), const Phrase&>)
      return chinese ? part.in_chinese() : part.en;
    else
      return part;
  };
  return {fmt::format(fmt::runtime(phrase.en), in(false, parts)...),
          fmt::format(fmt::runtime(phrase.in_chinese()), in(true, parts)...)};
}
// Exact integers in full, other numbers in four digits.
std::string exact_number_text(double value);

// Whether no value can make it fail, or none can make it hold: such a predicate says nothing.
bool cannot_fail(const Predicate& predicate);
bool cannot_hold(const Predicate& predicate);

}  // namespace isobar::claims
