// BadStep: a step of train_lm whose loss or a gradient was not finite, as one file with all that decides it:
// settings, weights and buffers before the step, the batch, and dropout's key. The optimizer acts later.
//
//   const BadStep step = load_bad_step("runs/train_lm/bad_step.safetensors");
//   fmt::print("{}", examine(step).report);      // runs it again, see below
//
// files.md has the file's content.
#pragma once

#include "../../../autograd/check/bad_op.h"
#include "../../../data/dataset.h"
#include "../checkpoints/checkpoint.h"

namespace isobar {

struct BadStep {
  Checkpoint before;       // config, tokenizer, model and step alone
  Batch batch;             // (rows, tokens), all pieces of the step
  uint64_t masks_key = 0;  // of the generator of dropout's masks
  std::string report;      // what examine() said where it was written
  std::string written_by;  // "isobar 0.4.0, products: own, AVX-512"
};

// This program and machine, as written_by.
std::string this_build();

// In one move: the file is there whole or not at all. Throws Error where it cannot be written.
void save_bad_step(const std::string& path, const BadStep& step);
// Throws Error that begins with the path where the file is of another kind, damaged, or makes no sense.
BadStep load_bad_step(const std::string& path);

// --- Which row of a batch, and which position in that row, the values that are not finite belong to.
//
// No shape says which dimension is the batch. So the step is run without its last row, and without its last
// position: the dimension that became shorter is the one. Where there is none, as in the gradient of a
// weight, or where all rows are bad, each row is run alone.

struct BadRow {
  int64_t row = -1;       // the first bad one; -1: unknown, or it takes several rows together
  int64_t bad_rows = 0;   // how many rows are bad
  int64_t rows = 0;       // of the batch
  int64_t position = -1;  // of the first value in that row; -1: unknown
  bool alone = false;     // found by running each row alone

  // "row 3 of 16, position 17".
  std::string text() const;
};

// --- A bad step, run again alone under a trace: which op made the first NaN or infinity, and for which row.

struct StepFinding {
  double loss = 0, gradient_norm = 0;
  std::optional<BadOp> op;  // none where the step is finite
  std::string parameter;    // the name of op->leaf, or of a parameter whose gradient alone is not finite
  BadRow row;               // of op, in its piece of the batch
  int64_t first_row = 0;    // of that piece
  std::string line;         // what made it and where, one line
  std::string report;       // the same with numbers and a checksum of the values
};

// On a model of its own.
StepFinding examine(const BadStep& step);

// examine() for the file of another run: its report. Throws Diverged where that is not the one in the file,
// and Error as load_bad_step() does.
std::string replay(const std::string& path);

}  // namespace isobar
