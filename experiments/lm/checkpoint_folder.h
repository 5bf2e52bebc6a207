// CheckpointFolder: DIR/checkpoints of one run, with its last few checkpoints and the best.
//
//   CheckpointFolder folder(run.folder(), {.keep = 2, .fresh = true});
//   folder.save(checkpoint);        // step_000250.h5
//   folder.save_best(checkpoint);   // best.h5
//
// A new checkpoint is complete on the disk before an old one goes. The run holds the lock of DIR (see
// harness/result_folder.h): nobody else writes here.
#pragma once

#include <cstdint>
#include <string>

#include "checkpoint.h"

namespace isobar {

struct CheckpointFolderOptions {
  int64_t keep = 2;   // at least 1
  bool fresh = true;  // the run begins: what an earlier one left here goes when the first checkpoint stands
};

class CheckpointFolder {
 public:
  // Removes temporary files that a killed run left behind.
  CheckpointFolder(const std::string& run_folder, const CheckpointFolderOptions& options);

  // Writes step_<step>.h5; then removes those before the last `keep`, and those of later steps, which a run
  // that went on from here could not read.
  void save(const Checkpoint& checkpoint);
  void save_best(const Checkpoint& checkpoint);
  // The path of the last one saved here, or "".
  const std::string& last() const { return last_; }

 private:
  void write(const std::string& name, const Checkpoint& checkpoint);

  std::string run_folder_, folder_, last_;
  int64_t keep_;
  bool fresh_;
};

}  // namespace isobar
