#include "loaded_model.h"

#include <filesystem>

#include "../harness/process.h"

namespace isobar {

Checkpoint checkpoint_at(const std::string& path) {
  if (!std::filesystem::is_directory(path)) return load_checkpoint(path);
  return newest_checkpoint(path,
                           [](const std::string& why) { complain(stderr, "warning", why + "; skipped"); });
}

Trained load_trained(const std::string& path) {
  const Checkpoint checkpoint = checkpoint_at(path);
  return {checkpoint.tokenizer, model_of(checkpoint)};
}

}  // namespace isobar
