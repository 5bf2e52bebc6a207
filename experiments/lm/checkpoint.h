// Checkpoint: a moment of train_lm's training as one file: the model, for whoever wants to use it, and all
// else that the run needs to go on to the bit.
//
//   const Checkpoint checkpoint = load_checkpoint("runs/train_lm/checkpoints/best.safetensors");
//   LanguageModel model = model_of(checkpoint);
//   const std::vector<int32_t> prompt = checkpoint.tokenizer->encode("ROMEO:");
//
// The file is a checked one (data/checked_file.h); README.md of this folder lists its content. The run's
// random numbers and batches have no state but (key, step), nor has its schedule.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "../../data/tokenizer.h"
#include "../harness/run_state.h"
#include "config.h"

namespace isobar {

struct Checkpoint {
  std::string config;  // JSON as --print-config prints it: preset, seed and all settings
  std::shared_ptr<const Tokenizer> tokenizer;
  std::vector<NamedTensor> model;  // named_state(model)

  int64_t step = 0;                    // steps done: the place in schedule and batches
  uint64_t key = 0;                    // of the run's generator
  std::vector<NamedTensor> optimizer;  // named_state(optimizer): moments and step counts
  double best_val_loss = std::numeric_limits<double>::infinity();
  int64_t skipped_steps = 0;  // for numbers that were not finite
  std::string corpus;         // checksum of the tokens that the run learns from
  RunState run;
};

// Names the first number of model and optimizer that is not finite, or "".
std::string not_finite(const Checkpoint& checkpoint);

// The bytes of a checkpoint's file. Throws Error where not_finite() names something.
std::string checkpoint_bytes(const Checkpoint& checkpoint);
// Writes it by write_file_atomically().
void save_checkpoint(const std::string& path, const Checkpoint& checkpoint);
// Throws Error that begins with the path and says what is wrong: no checkpoint, cut short, damaged, of a
// newer version, or not what a run could have written.
Checkpoint load_checkpoint(const std::string& path);

inline const std::string best_checkpoint = "best.safetensors";
// The checkpoints of a run, newest first, the best last: DIR/checkpoints/step_000250.safetensors.
std::vector<std::string> checkpoint_files(const std::string& run_folder);
// The first of them that can be loaded; `complain` hears the Error of each before it. Throws Error where none
// can.
Checkpoint newest_checkpoint(const std::string& run_folder,
                             const std::function<void(const std::string&)>& complain = {});

// The settings of the checkpoint's run. Throws Error for settings that make no sense.
LmConfig config_of(const Checkpoint& checkpoint);
// The trained model. Throws Error where configuration, tokenizer and tensors do not belong together; asks for
// no more memory than the tensors of the file do, whatever the configuration says.
LanguageModel model_of(const Checkpoint& checkpoint);

}  // namespace isobar
