// Trial: one model of the norm comparison, trained from one seed.
#pragma once

#include <string>
#include <vector>

#include "tiny.h"

namespace isobar {

struct Trial {
  std::string size;             // "64x4": width × blocks
  std::string placement, norm;  // as LmConfig has them; or placement "ngpt" and no norm
  int64_t width, layers, steps;
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
  double val_loss;             // infinite where a loss or gradient was
  std::vector<double> losses;  // of each step's batch, up to where the run broke off
  Stream start, end;           // at the first step and the last; NaN at the end where the run broke off
  double tokens_per_second, peak_mib;  // of this machine; memory of tensors alone
};

// The settings of its training. Throws Error for those that make no sense.
LmConfig training_of(const TinyConfig& config, const Trial& trial);
TrialOutcome train_trial(const TinyConfig& config, const TinyText& text, const Trial& trial, int64_t seed);

}  // namespace isobar
