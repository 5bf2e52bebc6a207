// A mistake of a user, and the error that it earns. misuse_test.cpp tries them all.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace isobar {

struct Misuse {
  std::string what;
  std::function<void()> code;
  std::string message;
};

// Mistakes with layers, models, optimizers and loaders.
std::vector<Misuse> misuse_of_models();

}  // namespace isobar
