// How the values of every module and their gradients are spread, into the run's files and its report.
#pragma once

#include "../../nn/observe.h"
#include "../harness/run.h"

namespace isobar {

// One log step: a row of /series/activation_histogram and /series/gradient_histogram in run.h5. A row holds 65
// shares for each module of /modules, in its order: those of the 64 bins, and that of zeros. The bins' edges are
// the one row of /series/activation_edges and /series/gradient_edges. `probe` names the modules. Ranks add up what each saw.
void record_histograms(Run& run, const Probe& probe, HistogramProbe& histograms);

// The ridges of summary.json: up to 12 of the log steps, evenly chosen, and of the modules the embedding, the blocks
// and what comes after them.
void plot_ridges(Run& run);

}  // namespace isobar
