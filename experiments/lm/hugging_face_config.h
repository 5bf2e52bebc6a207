// The config.json of Hugging Face's transformers, which stands beside model.safetensors (nn/hugging_face.h). An
// exported folder opens there with AutoModelForCausalLM.from_pretrained(folder).
#pragma once

#include "../../nn/hugging_face.h"
#include "../harness/json.h"
#include "config.h"

namespace isobar {

// The config.json. Throws as check_layout() does.
Json hugging_face_config(const LanguageModelConfig& config, HuggingFaceLayout layout);

// The settings of the model that a config.json describes; vocab_size among them, training's left at their
// defaults. `who` begins errors. Throws Error for another model_type, and for what our model cannot do.
LmConfig config_from_hugging_face(const Json& config, const std::string& who);

}  // namespace isobar
