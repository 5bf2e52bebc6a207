// Checkpoint: a moment of train_lm's training as one file: the model, and what the run needs to go on.
//
//   const Checkpoint checkpoint = load_checkpoint("runs/train_lm/checkpoints/best.safetensors");
//   LanguageModel model = model_of(checkpoint);
//   const std::vector<int32_t> prompt = checkpoint.tokenizer->encode("ROMEO:");
//
// files.md has the file's content. Random numbers, batches and schedule have no state but (key, step).
#pragma once

#include <charconv>

#include "../../../data/checked_file.h"
#include "../../../data/tokenizer.h"
#include "../../run/run.h"
#include "../training/config.h"

namespace isobar {

struct Checkpoint {
  std::string config;  // JSON as --print-config prints it: preset, seed and all settings
  std::shared_ptr<const Tokenizer> tokenizer;
  std::vector<NamedTensor> model;  // named_state(model)

  int64_t step = 0;                         // steps done: the place in schedule and batches
  uint64_t key = 0;                         // of the run's generator
  std::vector<NamedTensor> optimizer = {};  // named_state(optimizer): moments and step counts
  double best_val_loss = std::numeric_limits<double>::infinity();
  int64_t best_step = 0;      // steps done when it was measured
  int64_t skipped_steps = 0;  // for numbers that were not finite
  std::string corpus = "";    // checksum of the tokens that the run learns from
  Run::Lines lines = {};      // of the run's metrics.jsonl and modules.jsonl
  // Of which sources, data and first weights the run is, as JSON; "" in one of an older isobar.
  std::string origin = "";
};

// Names the first number of model and optimizer that is not finite, or "".
std::string not_finite(const Checkpoint& checkpoint);

// The bytes of a checkpoint's file. Throws Error where not_finite() names something.
std::string checkpoint_bytes(const Checkpoint& checkpoint);
// Writes it by write_file_atomically().
void save_checkpoint(const std::string& path, const Checkpoint& checkpoint);
// Throws Error that begins with the path: no checkpoint, cut short, damaged, newer, or not what a run writes.
Checkpoint load_checkpoint(const std::string& path);

inline const std::string best_checkpoint = "best.safetensors";
// The checkpoints of a run, newest first, the best last: DIR/checkpoints/step_000250.safetensors.
std::vector<std::string> checkpoint_files(const std::string& run_folder);
// The first of them that is none by its first bytes, or "": a file of the user's, which no run removes or replaces.
std::string foreign_checkpoint(const std::string& run_folder);
// The first that can be loaded; `complain` hears the Error of each before it. Throws Error where none can.
Checkpoint newest_checkpoint(const std::string& run_folder,
                             const std::function<void(const std::string&)>& complain = {});

// The settings of the checkpoint's run. Throws Error for settings that make no sense.
LmConfig config_of(const Checkpoint& checkpoint);
// The trained model. Throws Error where configuration, tokenizer and tensors do not belong together; asks for
// no more memory than the tensors of the file do, whatever the configuration says.
LanguageModel model_of(const Checkpoint& checkpoint);

// --- What checkpoint files and bad steps share.

// Each tensor as <group>/<name>; and those of a group, in the order of their names.
void store_tensors(Safetensors& file, const std::string& group, const std::vector<NamedTensor>& tensors);
std::vector<NamedTensor> stored_tensors(const Safetensors& file, const std::string& group);

// What parse(file) makes of a checked file. Errors begin with the path.
template <class Parse>
auto parse_checked(const std::string& path, const FileKind& kind, const Parse& parse) {
  const Safetensors file = read_checked(path, kind);
  try {
    return parse(file);
  } catch (const Error& error) {
    throw_error(fmt::format("{}: {}", path, error.what()));
  }
}

// The metadata under a key. Throws Error where there are none.
const std::string& stored_text(const Safetensors& file, const std::string& key);
// The same as a number. Throws Error where they are none.
template <class T>
T stored_number(const Safetensors& file, const std::string& key) {
  const std::string& text = stored_text(file, key);
  T number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  check(error == std::errc() && end == text.data() + text.size(), "wanted a number as {} of the metadata",
        key);
  return number;
}

// XXH3 of a tensor's bytes, and one of several's.
std::string checksum_of(const Tensor& values);
std::string checksum_of(const std::vector<NamedTensor>& tensors);

// --- CheckpointFolder: DIR/checkpoints of one run, with its last few checkpoints and the best.
//
// A new checkpoint is complete on the disk before an old one goes. The run holds the lock of DIR.

// Under which names a checkpoint is saved.
struct SaveAs {
  bool step = false, best = false;
};

class CheckpointFolder {
 public:
  // Removes temporary files that a killed run left. `keep` is at least 1. Throws Error where DIR/checkpoints is a
  // symbolic link.
  CheckpointFolder(const std::string& run_folder, int64_t keep);

  // Removes an earlier run's: a new one begins.
  void clear();

  // Writes the best, then step_<step>.safetensors, as wanted; after the latter removes those before the last
  // `keep`, and those of later steps, which a run that went on from here could not read.
  void save(const Checkpoint& checkpoint, SaveAs as);

 private:
  std::string run_folder_, folder_;
  int64_t keep_;
};

// --- Trained: a language model out of a checkpoint, with its tokenizer, ready to use.

// `path` is a checkpoint, or the folder of a run, whose newest one that can be read is taken: why one before
// it cannot is said on stderr. Throws Error as load_checkpoint and newest_checkpoint do.
Checkpoint checkpoint_at(const std::string& path);

struct Trained {
  std::shared_ptr<const Tokenizer> tokenizer;
  LanguageModel model;
};

// `path` is what checkpoint_at() takes. Throws Error as it does, and as model_of() does.
Trained load_trained(const std::string& path);

}  // namespace isobar
