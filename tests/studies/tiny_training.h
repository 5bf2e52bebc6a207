// A training of some tenths of a second, for tests of the program around it.
#pragma once

#include "../../core/rng.h"
#include "../temporary_folder.h"

namespace isobar {

// The words of train_lm; the text is in the folder.
inline std::string tiny_training(const TemporaryFolder& folder, int64_t steps) {
  std::string text;
  for (uint64_t i = 0; i < 5000; ++i) text.push_back(static_cast<char>('a' + Rng(7).below(20, i)));
  return "train_lm --corpus " + folder.write("text.txt", text).string() +
         " --n_layer 1 --n_head 1 --n_kv_head 1 --n_embd 8 --block_size 8 --batch_size 2 --warmup_iters 2"
         " --eval_interval 10 --eval_iters 2 --log_interval 10 --max_iters " +
         std::to_string(steps);
}

}  // namespace isobar
