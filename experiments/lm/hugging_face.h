// Language models in the layouts of Hugging Face's transformers: names and shapes of the tensors in
// model.safetensors, and the config.json beside it. An exported folder opens there with
// AutoModelForCausalLM.from_pretrained(folder).
//
//   llama   RMSNorm before each branch, RoPE (whose two halves of a head are those of our rope), SwiGLU,
//           grouped heads
//   gpt2    LayerNorm, learned positions, GELU or ReLU; matrices transposed (Conv1D), q, k and v in one
#pragma once

#include <string>

#include "../../data/safetensors.h"
#include "../harness/json.h"
#include "config.h"

namespace isobar {

enum class Layout { llama, gpt2 };
// "llama" or "gpt2"; throws Error for another.
Layout layout_from_name(const std::string& name);

// The tensors of a model under the layout's names, f32. Biases that the model lacks and the layout wants are
// zeros. Throws Error naming what of the model the layout cannot say.
Safetensors to_hugging_face(LanguageModel& model, Layout layout);
// The config.json. Throws as to_hugging_face does.
Json hugging_face_config(const LanguageModelConfig& config, Layout layout);

// The settings of the model that a config.json describes; vocab_size among them, training's left at their
// defaults. `who` begins errors. Throws Error for another model_type, and for what our model cannot do.
LmConfig config_from_hugging_face(const Json& config, const std::string& who);
// The model with these tensors. Throws Error that begins with `who` for a tensor that is missing, superfluous
// or of another shape than the configuration's; asks for no more memory than the tensors take.
LanguageModel model_from_hugging_face(const LmConfig& config, Layout layout, const Safetensors& file,
                                      const std::string& who);
// Whether a tensor belongs to the weights: old files hold masks and angles too.
bool is_weight(const std::string& name);

}  // namespace isobar
