// What a Probe saw of a language model, into the run's files and, from these, into its report.
#pragma once

#include "../../harness/run.h"
#include "histogram.h"
#include "saturation.h"

namespace isobar {

// One log step that was not dropped: a row of each /series/module_* and /series/weight_* in run.h5, whose
// columns /modules, /module_types and /weights name.
void record_modules(Run& run, const Probe& probe, const SaturationProbe& all_shares, int64_t step);

// Of all log steps: a heatmap of stds and one of gradient norms, module by log step. Of the last step: the
// "modules" of summary.json, [{path, std, grad_norm}, …], and on the terminal a table of blocks, their
// branches and norms, and charts of the residual stream.
void report_modules(Run& run);

// loss.csv, a line per step, and layers.csv, a line per log step and module, both out of the series.
void write_tables(Run& run);

// The curves of /series/loss and /series/val_loss.
void plot_losses(Run& run);

// How ranks share the pieces of a step, where another number of pieces would serve them better.
void say_shares(Run& run, int64_t pieces);

// What tensors took at the peak, and what of it stays between two steps, as `timing`; of ranks the most.
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
// Whether a module is a block or a part of the model itself: what writes to or reads the residual stream.
bool on_the_stream(const std::string& path, const std::string& type);

// --- How the values of every module and their gradients are spread, into the run's files and its report.

// One log step: a row of /series/{activation, gradient}_histogram in run.h5, of 65 shares for each module of
// /modules: those of 64 bins (/series/{activation, gradient}_edges), and of zeros. Ranks add up what each
// saw.
void record_histograms(Run& run, const Probe& probe, HistogramProbe& histograms);

// The ridges of summary.json: up to 12 log steps, evenly chosen, and the modules on the residual stream.
void plot_ridges(Run& run);

}  // namespace isobar
