// Whether a file of tensors can hold the model that its configuration describes: asked before a model of that
// size is made, since a few bytes of a hostile configuration can ask for any amount of memory.
#pragma once

#include <cstdint>
#include <string_view>

#include "language_model.h"

namespace isobar {

// Throws Error that begins with `who` where `tensors` tensors with `numbers` numbers together are too few.
void check_affordable(const LanguageModelConfig& config, int64_t tensors, int64_t numbers,
                      std::string_view who);

}  // namespace isobar
