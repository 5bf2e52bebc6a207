#include "checkpoint_folder.h"

#include <filesystem>
#include <utility>

#include "../../data/file.h"

namespace isobar {

namespace fs = std::filesystem;

CheckpointFolder::CheckpointFolder(const std::string& run_folder, const CheckpointFolderOptions& options)
    : run_folder_(run_folder),
      folder_((fs::path(run_folder) / "checkpoints").string()),
      keep_(options.keep),
      fresh_(options.fresh) {
  check(keep_ >= 1, "--keep: wanted at least 1, got {}", keep_);
  remove_temporaries(folder_);
}

void CheckpointFolder::save(const Checkpoint& checkpoint, SaveAs as) {
  make_folder_durably(folder_);
  const std::string bytes = checkpoint_bytes(checkpoint);
  if (as.best) write(folder_ + "/" + best_checkpoint, bytes);
  if (!as.step) return;
  const std::string saved = fmt::format("{}/step_{:06}.safetensors", folder_, checkpoint.step);
  write(saved, bytes);
  bool later = true;
  int64_t kept = 0;
  for (const std::string& path : checkpoint_files(run_folder_)) {
    if (fs::path(path).filename() == best_checkpoint) continue;
    if (path == saved) later = false;
    if (later || kept++ >= keep_) fs::remove(path);
  }
}

void CheckpointFolder::write(const std::string& path, const std::string& bytes) {
  write_file_atomically(path, bytes);
  if (!std::exchange(fresh_, false)) return;
  for (const std::string& old : checkpoint_files(run_folder_))
    if (old != path) fs::remove(old);
}

}  // namespace isobar
