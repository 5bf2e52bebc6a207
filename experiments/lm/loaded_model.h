// Trained: a language model out of a checkpoint, with its tokenizer, ready to use.
#pragma once

#include <memory>
#include <string>

#include "checkpoint.h"

namespace isobar {

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
