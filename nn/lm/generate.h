// Text drawn from a language model, token by token.
//
//   const std::vector<int32_t> tokens =
//       generate(model, prompt, 200, {.temperature = 0.8, .top_k = 50}, rng.split("sample"));
#pragma once

#include <functional>

#include "../../core/rng.h"
#include "language_model.h"

namespace isobar {

// Which of the likely tokens may follow, in the order in which they are applied.
struct Sampling {
  int64_t tokens = 0;      // ids that exist: rows of the vocabulary beyond are never drawn; 0: all exist
  double temperature = 1;  // logits are divided by it; 0: always the likeliest token
  int64_t top_k = 0;       // only the k likeliest; 0: no bound
  double top_p = 1;        // only the smallest set of likeliest tokens with this chance together (Holtzman et
                           // al. 2020), of those that top_k left
};

// Throws Error for a value that makes no sense: "generate: temperature: wanted 0 or more, got -1". A program
// that takes them from its user gives "--" for `prefix`, and the error names a flag.
void check_sampling(const Sampling& sampling, std::string_view prefix = "generate: ");

// The chance of each token to be drawn, from the logits (V) of the last place. Sums to 1; of equally likely
// tokens at a bound, those of lower ids stay. Throws Error where a logit is not finite, and as
// check_sampling().
std::vector<double> chances(std::span<const float> logits, const Sampling& sampling);

// `prompt` and the `count` tokens after it, draw i a pure function of (rng, i). `on_token` sees each as it
// comes. The model reads the last block_size tokens: up to there a key/value cache saves reading them anew;
// beyond, the window slides, every key and value in it changes, and each token costs a whole forward. The
// model is in evaluation meanwhile (model.h). Throws Error for an empty prompt, and as chances().
std::vector<int32_t> generate(LanguageModel& model, std::vector<int32_t> prompt, int64_t count,
                              const Sampling& sampling, const Rng& rng,
                              const std::function<void(int32_t)>& on_token = {});

}  // namespace isobar
