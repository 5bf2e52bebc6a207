// Environment: what a result depends on besides its configuration.
#pragma once

#include <string>

#include "json.h"

namespace isobar {

struct Environment {
  std::string version;    // of Isobar
  std::string compiler;   // "g++ 12.2.0"
  std::string cpu;        // the model as /proc/cpuinfo names it
  int threads;            // parallel_for uses
  std::string blas;       // "OpenBLAS 0.3.21"
  std::string blas_core;  // kernels that OpenBLAS chose: "SkylakeX"
};

// As of now, with the current number of threads.
Environment current_environment();
Json to_json(const Environment& environment);

// "0.2.0"
std::string isobar_version();
// Most memory the process has held so far, in MiB.
double peak_memory_mib();

}  // namespace isobar
