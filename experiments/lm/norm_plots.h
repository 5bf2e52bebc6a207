// The charts of the norm comparison: losses by net, and the stream through the blocks.
#pragma once

#include "norm_results.h"

namespace isobar {

// For each size, over the seeds: val loss of each net at each learning rate, with the loss of the letters'
// frequencies where one comes near it; and of each net at its best rate the loss over training, and the std
// of each block's output after the last step.
void plot_trials(Run& run, const NormResults& results);

}  // namespace isobar
