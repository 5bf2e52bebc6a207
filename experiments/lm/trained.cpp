#include "trained.h"

#include <filesystem>

namespace isobar {

Trained load_trained(const std::string& path) {
  const auto complain = [](const std::string& message) { fmt::print(stderr, "{}; skipped\n", message); };
  const Checkpoint checkpoint =
      std::filesystem::is_directory(path) ? newest_checkpoint(path, complain) : load_checkpoint(path);
  return {checkpoint.tokenizer, model_of(checkpoint)};
}

}  // namespace isobar
