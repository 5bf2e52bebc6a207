// Language models in the layouts of Hugging Face's transformers: names and shapes of the tensors in their
// model.safetensors.
//
//   llama   RMSNorm before each branch, RoPE (whose two halves of a head are those of our rope), SwiGLU,
//           grouped heads
//   gpt2    LayerNorm, learned positions, GELU or ReLU; matrices transposed (Conv1D), q, k and v in one
//
//   const Safetensors file{to_hugging_face(model, HuggingFaceLayout::llama), {{"format", "pt"}}};
//   write_file_atomically("model.safetensors", safetensors_bytes(file));
#pragma once

#include <map>

#include "language_model.h"

namespace isobar {

// The models whose names of tensors are supported.
enum class HuggingFaceLayout { llama, gpt2 };
// Returns the layout named "llama" or "gpt2". Throws Error for another name.
HuggingFaceLayout layout_from_name(const std::string& name);
// Returns "llama" or "gpt2".
std::string name_of(HuggingFaceLayout layout);

// Throws Error naming the first setting of the model that the layout cannot say.
void check_layout(const LanguageModelConfig& config, HuggingFaceLayout layout);

// The tensors of a model under the layout's names, f32. Biases that the model lacks and the layout wants are
// zeros. Throws as check_layout() does.
std::map<std::string, Tensor> to_hugging_face(LanguageModel& model, HuggingFaceLayout layout);
// The model of this configuration with these tensors. Throws Error that begins with `who` for a tensor that
// is missing, superfluous or of another shape than the configuration's, and for a tied lm_head.weight that is
// not the embedding; asks for no more memory than the tensors take.
LanguageModel model_from_hugging_face(const LanguageModelConfig& config, HuggingFaceLayout layout,
                                      const std::map<std::string, Tensor>& tensors, const std::string& who);
// Throws Error that begins with `who` where `tensors` tensors with `numbers` numbers together are too few for
// the model of this configuration. Ask before a model of that size is made: a few bytes of a hostile
// configuration can ask for any amount of memory.
void check_affordable(const LanguageModelConfig& config, int64_t tensors, int64_t numbers,
                      std::string_view who);
// Whether a tensor belongs to the weights: old files hold masks and angles too.
bool is_weight(const std::string& name);

}  // namespace isobar
