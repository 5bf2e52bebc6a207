// Over settings: whether a comparison of trained nets holds in settings that nobody chose for it. A study measures the
// same in each setting of a balanced design; seeds give the interval of a setting, and settings give the verdict.
// rules.md has the rule in words; tests/claims/over_settings_test.cpp has how often its words are wrong.
#pragma once

#include <optional>

#include "rules.h"

namespace isobar::claims {

// One factor of a design, such as the optimizer: its levels, and which of them each setting has.
struct SettingsFactor {
  Phrase name;
  std::vector<Phrase> levels;
  std::vector<size_t> of_setting;  // index into `levels`
};

// Throws Error unless any two factors are balanced, n(a, b) = n(a) n(b) / n, so that their effects do not mix, and
// unless four settings more than the factors' degrees of freedom are left to say how settings scatter.
void check_balanced(const std::vector<SettingsFactor>& factors, size_t settings);

struct LevelReading {
  size_t factor, level;
  double mean = 0;                                   // of all its pairs, each setting with the same weight
  double variance = 0;                               // of this mean
  Range interval = {};                               // of this mean, 95 %
  PartOutcome outcome = PartOutcome::too_few_seeds;  // by this interval: what "true" wants of every level
  PartOutcome shared = PartOutcome::too_few_seeds;   // by that of its share of the error rate, for "depends"
  int64_t settings = 0, pairs = 0;
};

struct OverSettings {
  Reading reading;                      // of the mean over settings; its outcome is the part's
  double mean = 0;                      // over settings
  std::vector<PartOutcome> marks = {};  // each setting by its own seeds; they decide nothing
  std::vector<LevelReading> levels = {};
  std::vector<size_t> depends_on = {};  // factors of which two levels are decided differently, and differ
  // Where the mean is decided and the part is open all the same: a level that is not decided so.
  std::optional<size_t> open_level = std::nullopt;  // index into `levels`
};

// The factors of a summary that has them, {"factors": [{"en": …, "zh": …}, …], "settings": [{"name": …, "levels": [{"en":
// …}, …]}, …]}. Throws Error for a design that is none.
std::vector<SettingsFactor> factors_from(const Json& summary);

// Of the rule `mean`, whose values are no logarithms. `settings` has the seeds of each one, in the design's order.
OverSettings read_settings(const Predicate& predicate, const std::vector<SettingsFactor>& factors,
                           const std::vector<Spread>& settings);

// A character for each setting: "+" as asked, "-" not, "=" no difference, "." not decided; and "14 of 16".
std::string strip_of(const std::vector<PartOutcome>& marks);
Phrase count_of(const std::vector<PartOutcome>& marks);

// "optimizer: holds at Muon, no difference at AdamW".
Phrase text_of(const OverSettings& over, size_t factor, const std::vector<SettingsFactor>& factors);

}  // namespace isobar::claims
