// Trial: one model of the norm comparison, trained from one seed.
#pragma once

#include "../../nn/observe.h"
#include "../../nn/unit_lengths.h"
#include "../lm/small_config.h"

namespace isobar {

struct Trial {
  std::string size;             // "64x4": width × blocks; "64x16.warmup_30" with its own warm-up
  std::string placement, norm;  // as LmConfig has them; or placement "ngpt" and no norm
  int64_t width, layers, steps, warmup;
  double learning_rate;

  // "pre.rmsnorm", "ngpt".
  std::string net() const { return norm.empty() ? placement : placement + "." + norm; }
};

// Of the output of each block: the residual stream, and the gradient that comes back to it.
struct Stream {
  std::vector<double> std, rms, gradient_norm;
};

struct TrialOutcome {
  int64_t parameters;
  double start_loss;           // over the validation batches, as val_loss
  double tuning_loss;          // over the tuning batches, by which rates are chosen
  double val_loss;             // both are infinite where a loss or gradient was
  std::vector<double> losses;  // of each step's batch, up to where the run broke off
  Stream start, end;           // at the first step and the last; NaN at the end where the run broke off
  std::optional<LengthErrors> lengths;  // of an nGPT that was trained to the end
};

// The settings of its training. Throws Error for those that make no sense.
LmConfig training_of(const TinyConfig& config, const Trial& trial);
// Its net, a LanguageModel or an NGPT.
std::unique_ptr<Module> model_of(const LanguageModelConfig& config, const Trial& trial, const Rng& rng);
// What the probe saw of the blocks; and NaN for all of them.
Stream stream_of(const Probe& probe);
Stream unknown_stream(int64_t layers);

}  // namespace isobar
