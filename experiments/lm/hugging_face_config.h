// What Hugging Face's layouts can say of a model, and their config.json: a part of hugging_face.h.
#pragma once

#include "hugging_face.h"

namespace isobar {

// Throws Error naming the first setting of the model for which the layout has no word.
void check_layout(const LanguageModelConfig& config, Layout layout);

}  // namespace isobar
