// What a Probe saw of a language model, into the run's files and, from there, into its report: a run that was
// resumed reports what one without a break does.
#pragma once

#include "../../nn/observe.h"
#include "../../nn/shares.h"
#include "../harness/run.h"

namespace isobar {

// One log step that was not dropped: a row of each /series/module_* and /series/weight_* in run.h5
// (their columns are named once in /modules, with /module_types, and in /weights), and a line of layers.csv
// for each module.
void record_modules(Run& run, Csv& csv, const Probe& probe, const ShareProbe& all_shares, int64_t step);

// Of all log steps: a heatmap of stds and one of gradient norms, module by log step. Of the last step: the
// "modules" of summary.json, [{path, std, grad_norm}, …], and on the terminal a table of blocks, their
// branches and norms, and charts of the residual stream.
void report_modules(Run& run);

// The curves of /series/loss and /series/val_loss.
void plot_losses(Run& run);

// How ranks share the pieces of a step, where another number of pieces would serve them better.
void say_shares(Run& run, int64_t pieces);

// What tensors took since the peak was last reset, and what of it stays between two steps: weights and
// moments; on several ranks the most that one took, and of each. Under `timing`, for threads bring scratch of
// their own.
void say_memory(Run& run);

}  // namespace isobar
