// BadStep: a step of train_lm whose loss or a gradient was not finite, as one file with all that decides it: settings,
// weights and buffers before the step, the batch, and the key of dropout's masks. The optimizer is not needed: it acts
// after the gradients.
//
//   const BadStep step = load_bad_step("runs/train_lm/bad_step.safetensors");
//   fmt::print("{}", examine(step).report);      // runs it again, see examine_step.h
//
// The file is a checked one (data/checked_file.h); README.md of this folder lists its content.
#pragma once

#include <cstdint>
#include <string>

#include "../../data/dataset.h"
#include "checkpoint.h"

namespace isobar {

struct BadStep {
  Checkpoint before;       // config, tokenizer, model and step alone
  Batch batch;             // (rows, tokens), all pieces of the step
  uint64_t masks_key = 0;  // of the generator of dropout's masks
  std::string report;      // what examine() said where it was written
  std::string written_by;  // "isobar 0.2.0, OpenBLAS 0.3.21 SkylakeX"
};

// This program and machine, as written_by.
std::string this_build();

// In one move: the file is there whole or not at all. Throws Error where it cannot be written.
void save_bad_step(const std::string& path, const BadStep& step);
// Throws Error that begins with the path where the file is of another kind or format, damaged, or makes no sense.
BadStep load_bad_step(const std::string& path);

}  // namespace isobar
