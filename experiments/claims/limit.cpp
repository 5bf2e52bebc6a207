#include "limit.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>

namespace isobar::claims {
namespace {

// As ulimit wants it, in so many bytes or seconds a unit: what is wanted, or a lower limit in force here.
std::string limit(double wanted, int resource, uint64_t unit) {
  rlimit now{};
  const bool limited = ::getrlimit(resource, &now) == 0 && now.rlim_cur != RLIM_INFINITY;
  return std::to_string(std::min(static_cast<uint64_t>(wanted), limited ? now.rlim_cur : UINT64_MAX) / unit);
}

// Of this program, in bytes. A sanitizer takes terabytes.
double address_space() {
  double pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

}  // namespace

Limit limit_of_untrusted() {
  const double memory =
      static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  return {.bytes = std::max(memory / 2, 2.0 * (1 << 30)), .seconds = 3600};
}

std::vector<std::string> limited(const std::string& program, const std::vector<std::string>& arguments,
                                 const Limit& most, int threads) {
  // The shell sets the limits and becomes the program. At a soft limit of time it gets SIGXCPU, at a hard one SIGKILL, which
  // says nothing of the cause.
  const bool watched = address_space() > most.bytes;
  std::vector<std::string> words{"-c",
                                 "ulimit -v $1; ulimit -S -t $2; shift 2; exec \"$@\"",
                                 "sh",
                                 watched ? "unlimited" : limit(most.bytes, RLIMIT_AS, 1024),
                                 limit(most.seconds * threads, RLIMIT_CPU, 1),
                                 program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return words;
}

}  // namespace isobar::claims
