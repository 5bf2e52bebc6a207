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

// Of all log steps: a heatmap of stds and one of gradient norms, module by log step. Of the last step: the "modules" of
// summary.json, [{path, std, grad_norm}, …], and on the terminal a table of blocks, their branches and norms,
// and charts of the residual stream.
void report_modules(Run& run);

// The curves of /series/loss and /series/val_loss.
void plot_losses(Run& run);

}  // namespace isobar
