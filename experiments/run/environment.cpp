#include "environment.h"

#include <sys/resource.h>

#include <fstream>

#include "../../core/blas.h"
#include "../../core/parallel.h"
#include "provenance.h"

namespace isobar {
namespace {

std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) {
      const size_t colon = line.find(": ");
      if (colon != std::string::npos) return line.substr(colon + 2);
    }
  return "unknown";
}

std::string compiler() {
#ifdef __clang__
  return fmt::format("clang++ {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#else
  return fmt::format("g++ {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
}

}  // namespace

std::string workers(const Ranks& ranks) {
  const std::string mine = fmt::format("{} thread{}", threads(), threads() == 1 ? "" : "s");
  return ranks.size() == 1 ? mine : fmt::format("{} ranks × {} ({})", ranks.size(), mine, ranks.library());
}

std::string isobar_version() { return ISOBAR_VERSION; }

Json current_environment() {
  return {{"version", isobar_version()}, {"commit", isobar_commit()}, {"sources", isobar_sources()},
          {"compiler", compiler()},      {"cpu", cpu_model()},        {"threads", threads()},
          {"blas", blas_version()},      {"blas_core", blas_core()}};
}

double peak_memory_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;  // Linux counts in KiB
}

}  // namespace isobar
