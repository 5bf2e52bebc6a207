// Trained: a language model out of a checkpoint, with its tokenizer, ready to use.
#pragma once

#include <memory>
#include <string>

#include "checkpoint.h"

namespace isobar {

struct Trained {
  std::shared_ptr<const Tokenizer> tokenizer;
  LanguageModel model;
};

// `path` is a checkpoint, or the folder of a run, whose newest one that can be read is taken: why one before
// it cannot is said on stderr. Throws Error as load_checkpoint and newest_checkpoint do.
Trained load_trained(const std::string& path);

}  // namespace isobar
