// The small models of the kept files tiny_llama and tiny_gpt2 (tests/fixtures/hugging_face.py).
#pragma once

#include "../../nn/lm/hugging_face.h"

namespace isobar {

inline constexpr HuggingFaceLayout layouts[] = {HuggingFaceLayout::llama, HuggingFaceLayout::gpt2};

inline std::string tiny_path(HuggingFaceLayout layout) {
  return ISOBAR_SOURCE_DIR "/tests/fixtures/tiny_" + name_of(layout);
}

inline LanguageModelConfig tiny_config(HuggingFaceLayout layout) {
  LanguageModelConfig config{.vocab_size = 13,
                             .block_size = 10,
                             .n_layer = 2,
                             .n_head = 4,
                             .n_embd = 16,
                             .norm_options = {.eps = 1e-3},
                             .hidden = 24,
                             .init_std = 0.3};
  if (layout == HuggingFaceLayout::llama) {
    config.n_kv_head = 2;
    config.rope_base = 100;
    config.tie_embeddings = false;
  } else {
    config.positions = Positions::learned;
    config.norm = "layernorm";
    config.ffn = "gelu_tanh";
    config.bias = true;
  }
  return config;
}

// A GPT-2 without biases, in norms neither.
inline LanguageModelConfig without_biases() {
  return {.vocab_size = 5,
          .block_size = 4,
          .n_layer = 1,
          .n_head = 2,
          .n_embd = 4,
          .positions = Positions::learned,
          .norm = "layernorm",
          .norm_options = {.bias = false},
          .ffn = "gelu"};
}

}  // namespace isobar
