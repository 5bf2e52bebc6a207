// A training of some tenths of a second, for tests of the program around it.
#pragma once

#include "../../core/rng.h"
#include "../temporary_folder.h"

namespace isobar {

// The words of train_lm; the text is in the folder.
inline std::string tiny_training(const TemporaryFolder& folder, int64_t steps) {
  std::string text;
  for (uint64_t i = 0; i < 5000; ++i) text.push_back(static_cast<char>('a' + Rng(7).below(20, i)));
  return "train_lm --tiny --corpus " + folder.write("text.txt", text).string() + " --max_iters " +
         std::to_string(steps);
}

}  // namespace isobar
