// Defaults that give way: a default or a preset's value that the user's own settings make impossible becomes
// one that fits, so that `train_lm --max_iters 40` works although the warm-up has 100 steps. What the user gave
// stays as it is, and is refused by LmConfig::check_together() where it cannot be.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "config.h"

namespace isobar {

// `given` holds the names of the settings that the user gave. Returns a sentence for each that changed:
// "warmup_iters is 4 instead of 100, because max_iters is 40".
std::vector<std::string> give_way(LmConfig& config, const std::set<std::string>& given);

}  // namespace isobar
