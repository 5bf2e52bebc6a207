// What a Probe saw of a language model, into the run's files and, from there, into its report: a run that was
// resumed reports what one without a break does.
#pragma once

#include "../../nn/saturation.h"
#include "../harness/run.h"

namespace isobar {

// One log step that was not dropped: a row of each /series/module_* and /series/weight_* in run.h5
// (their columns are named once in /modules, with /module_types, and in /weights), and a line of layers.csv
// for each module.
void record_modules(Run& run, Csv& csv, const Probe& probe, const SaturationProbe& all_shares, int64_t step);

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

// --- What was seen of each module of a language model so far, out of a run.h5 that may still grow.

// One value a log step in each list.
struct ModuleHistory {
  std::string path, type;
  std::vector<double> std, mean, gradient;  // of the output; the norm of the output's gradient
  // Shares of the output's elements; NaN where the run does not have them.
  std::vector<double> zeros = {}, saturated = {};
};

// In the order of /modules; empty while the file has no log step.
std::vector<ModuleHistory> module_histories(const Hdf5File& file);

// 0 for "norm", 2 for "blocks.0.mlp".
int64_t depth_of(const std::string& path);
// Whether a module is a block, or a part of the model itself: what writes to the residual stream or reads all
// of it.
bool on_the_stream(const std::string& path, const std::string& type);

// --- How the values of every module and their gradients are spread, into the run's files and its report.

// One log step: a row of /series/activation_histogram and /series/gradient_histogram in run.h5. A row holds
// 65 shares for each module of /modules, in its order: those of the 64 bins, and that of zeros. The bins'
// edges are the one row of /series/activation_edges and /series/gradient_edges. `probe` names the modules.
// Ranks add up what each saw.
void record_histograms(Run& run, const Probe& probe, HistogramProbe& histograms);

// The ridges of summary.json: up to 12 of the log steps, evenly chosen, and of the modules the embedding, the
// blocks and what comes after them.
void plot_ridges(Run& run);

}  // namespace isobar
