// The trained model that --init_from names, from whose weights training begins (fine-tuning): its sizes and
// its tokenizer come with it; optimizer, schedule and random numbers begin anew.
#pragma once

#include "../../../nn/lm/hugging_face.h"
#include "checkpoint.h"

namespace isobar {

// A model in one of Hugging Face's layouts as a checkpoint. Empty paths are config.json and tokenizer.json
// beside `path`; "byte" is a tokenizer too. Throws Error for files that are unreadable or do not fit.
Checkpoint import_hugging_face(const std::string& path, std::string config_path = "",
                               std::string tokenizer = "");

// `path` is a checkpoint of train_lm, the folder of a run (its newest checkpoint that can be read), or a
// model.safetensors with config.json and tokenizer.json beside it, or the folder of one. Without moments.
Checkpoint load_start(const std::string& path);

// Gives `config` the start's model. `given` holds the names of the settings that the user gave: throws Error
// where one says something else than the start. The tokens that a model with RoPE sees at once may be others.
void take_model(LmConfig& config, const std::set<std::string>& given, const Checkpoint& start);

// --- The config.json of Hugging Face's transformers, which stands beside model.safetensors
// (nn/lm/hugging_face.h). An exported folder opens there with AutoModelForCausalLM.from_pretrained(folder).

// The config.json. Throws as check_layout() does.
Json hugging_face_config(LanguageModelConfig config, HuggingFaceLayout layout);

// The settings of the model that a config.json describes; vocab_size among them, training's left at their
// defaults. `who` begins errors. Throws Error for another model_type, and for what our model cannot do.
LmConfig config_from_hugging_face(const Json& config, const std::string& who);

}  // namespace isobar
