// CheckpointFolder: DIR/checkpoints of one run, with its last few checkpoints and the best.
//
//   CheckpointFolder folder(run.folder(), {.keep = 2, .fresh = true});
//   folder.save(checkpoint, {.step = true});                 // step_000250.safetensors
//   folder.save(checkpoint, {.step = true, .best = true});   // and best.safetensors
//
// A new checkpoint is complete on the disk before an old one goes. The run holds the lock of DIR (see
// harness/result_folder.h): nobody else writes here.
#pragma once

#include <cstdint>
#include <string>

#include "checkpoint.h"

namespace isobar {

struct CheckpointFolderOptions {
  int64_t keep = 2;  // at least 1
  bool fresh =
      true;  // the run begins: what an earlier one left here goes when the first checkpoint is written
};

// Under which names a checkpoint is saved.
struct SaveAs {
  bool step = false, best = false;
};

class CheckpointFolder {
 public:
  // Removes temporary files that a killed run left.
  CheckpointFolder(const std::string& run_folder, const CheckpointFolderOptions& options);

  // Writes the best, then step_<step>.safetensors, as wanted; after the latter removes those before the last `keep`,
  // and those of later steps, which a run that went on from here could not read.
  void save(const Checkpoint& checkpoint, SaveAs as);

 private:
  void write(const std::string& path, const std::string& bytes);

  std::string run_folder_, folder_;
  int64_t keep_;
  bool fresh_;
};

}  // namespace isobar
