// In settings: a duel's comparison once more, in the sixteen settings of studies/settings: other initial weights, embedding,
// optimizer, text, number of steps. The duel itself has one setting; what it says may hold there alone.
#pragma once

#include "../claims/over_settings.h"
#include "findings.h"
#include "trainings.h"

namespace isobar::duel {

inline constexpr int64_t pairs_in_setting = 5;

// In all settings, where a search for the rate has so many; a pair of a long setting counts as three.
int64_t pairs_in_settings(int64_t rates);

// The tasks of the settings: those of `config`, with each setting's weights, embedding, optimizer, text and steps.
class TasksInSettings {
 public:
  // Reads both texts, if `config` asks for settings. Throws Error where they cannot be read.
  explicit TasksInSettings(const Config& config);
  // Const, for several threads. `training.setting` is 1 to 16.
  Trained train(const Contestant& contestant, const Training& training) const;
  double blind_loss(size_t setting) const { return tasks_.at(setting).few->blind_loss(); }

 private:
  struct Both {
    std::unique_ptr<Task> few, many;  // of so many steps; `many` for long settings alone
  };
  std::vector<Both> tasks_;
};

// In each setting each side has the best rate of its own, by trainings of the setting's short length; then five pairs of
// one seed are trained. A training that ends above the loss of the best guess counts with that loss. Prints each setting
// as it ends, and what the judge says over all; measures "a_minus_b.setting1" to 16, which claims can read.
void compare_in_settings(Run& run, const Config& config, const TasksInSettings& tasks, Trainings& trainings,
                         const Findings& found);

// "over all settings dyt is worse than rmsnorm: +0.031 nats, [+0.010, +0.052]; better in 0, worse in 9, …"; or on what it
// depends, or at which level it is not decided.
Phrase headline_of(const claims::OverSettings& over, const std::vector<claims::SettingsFactor>& factors,
                   const std::string& a, const std::string& b, double margin);

}  // namespace isobar::duel
