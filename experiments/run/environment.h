// What a result depends on besides its configuration.
#pragma once

#include "../../core/ranks/ranks.h"
#include "json.h"

namespace isobar {

// "version" of Isobar, "commit" as below, "sources" (provenance.h), "compiler" ("g++ 12.2.0"), "cpu" (by /proc/cpuinfo), "threads" of
// parallel_for, "blas", who multiplies ("own", "OpenBLAS 0.3.21"), and "blas_core", by what kernels ("AVX-512", "SkylakeX").
Json current_environment();

// Who computes: "2 threads", "4 ranks × 1 thread (Open MPI v4.1.4)".
std::string workers(const Ranks& ranks);

// "0.2.0"
std::string isobar_version();
// "2ca2793a1b2c", the commit of the sources of this build, with a "+" where they were changed since;
// "unknown" of sources without git. run/commit.cmake writes it at each build.
std::string isobar_commit();
// Most memory the process has held so far, in MiB.
double peak_memory_mib();

}  // namespace isobar
