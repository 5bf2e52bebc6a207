// What a result depends on besides its configuration.
#pragma once

#include <string>

#include "../../core/ranks.h"
#include "json.h"

namespace isobar {

// As of now: "version" of Isobar, "compiler" ("g++ 12.2.0"), "cpu" (the model as /proc/cpuinfo names it), "threads"
// that parallel_for uses, "blas" ("OpenBLAS 0.3.21"), and "blas_core", the kernels that it chose ("SkylakeX").
Json current_environment();

// Who computes: "2 threads", "4 ranks × 1 thread (Open MPI v4.1.4)".
std::string workers(const Ranks& ranks);

// "0.2.0"
std::string isobar_version();
// Most memory the process has held so far, in MiB.
double peak_memory_mib();

}  // namespace isobar
