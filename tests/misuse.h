// A mistake of a user, and the sentence that it earns, up to "…" at its end. misuse_test.cpp tries them all.
#pragma once

#include <functional>

#include "small_tensors.h"

namespace isobar {

struct Misuse {
  std::function<void()> code;
  std::string message;
};

// In misuse_of_models.cpp.
std::vector<Misuse> misuse_of_layers();
std::vector<Misuse> misuse_of_models();
std::vector<Misuse> misuse_of_training();

}  // namespace isobar
