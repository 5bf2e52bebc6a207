// What a Probe saw of a language model, into the run's files and, from these, into its report.
#pragma once

#include "../../run/run.h"
#include "histogram.h"
#include "saturation.h"

namespace isobar {

// What was seen of a log step that was not dropped.
struct LogStep {
  const Probe& probe;
  const SaturationProbe& shares;
  HistogramProbe& histograms;  // ranks add up what each saw
};
// How much there is to do, for those who watch the run.
struct RunSize {
  int64_t steps, tokens_per_step;
};
// A line of modules.jsonl: `size`; the lists modules, module_types and weights; for each module module_std,
// module_mean, module_rms, module_grad_norm, module_zeros, module_saturated; for each weight weight_grad_norm
// and weight_update_ratio; and activation_histogram and gradient_histogram, of 65 shares for each module: those
// of 64 bins, and of zeros.
void record_modules(Run& run, const LogStep& seen, const RunSize& size);

// Of all log steps, once all steps are done; each does nothing on ranks but the first.

// layers.csv, a line per log step and module; a heatmap of stds and one of gradient norms, module by log step;
// the ridges of summary.json, of up to 12 log steps, evenly chosen, and the modules on the residual stream. Of
// the last step: the "modules" of summary.json, [{path, std, grad_norm}, …], and on the terminal a table of
// blocks, their branches and norms, and charts of the residual stream.
void report_modules(Run& run);

// loss.csv, a line per step, and its curves.
void report_losses(Run& run);

// How ranks share the pieces of a step, where another number of pieces would serve them better.
void say_shares(Run& run, int64_t pieces);

// What tensors took at the peak, and what of it stays between two steps, as `timing`; of ranks the most.
void say_memory(Run& run);

// What all lines of a modules.jsonl have in common.
struct ModuleNames {
  std::vector<std::string> modules, types, weights;

  // Throws Error unless record_modules() wrote the line, with the names of the lines before.
  void add(const StepLine& line);
};

// Throws Error unless the line has the numbers of a step.
void check_step_line(const StepLine& line);

// --- What was seen of each module of a language model so far, out of a modules.jsonl that may still grow.

// One value a log step in each list.
struct ModuleHistory {
  std::string path, type;
  std::vector<double> std, mean, gradient;  // of the output; the norm of the output's gradient
  // Shares of the output's elements.
  std::vector<double> zeros = {}, saturated = {};
};

struct ModuleHistories {
  RunSize size{0, 0};
  std::vector<double> steps = {};
  std::vector<ModuleHistory> modules = {};

  // Names, which may be of an untrusted file, become one line each. Throws Error where the line has not the modules of
  // the lines before, or other values than record_modules() writes.
  void add(const StepLine& line);
};

// 0 for "norm", 2 for "blocks.0.mlp".
int64_t depth_of(const std::string& path);
// Whether a module is a block or a part of the model itself: what writes to or reads the residual stream.
bool on_the_stream(const std::string& path, const std::string& type);

}  // namespace isobar
