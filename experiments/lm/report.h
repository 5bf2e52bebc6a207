// What a Probe saw of a language model, into the run's files and onto the terminal.
#pragma once

#include "../../nn/observe.h"
#include "../harness/run.h"

namespace isobar {

// One look: a row of each /series/module_* and /series/weight_* in run.h5 (their columns are named once in
// /modules and /weights), and a line of layers.csv for each module.
void record_modules(Run& run, Csv& csv, const Probe& probe, int64_t step);
// [{path, std, grad_norm}, …]
Json modules_json(const Probe& probe);
// A table of blocks, their branches and norms, and charts of the residual stream.
void print_modules(Run& run, const Probe& probe, int64_t step);

}  // namespace isobar
