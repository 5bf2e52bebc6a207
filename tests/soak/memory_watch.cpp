#include "memory_watch.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "../../core/error.h"
#include "../../core/memory.h"

namespace isobar::soak {

int64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  int64_t all = 0, resident = 0;
  check(bool(file >> all >> resident), "cannot read /proc/self/statm");
  return resident * sysconf(_SC_PAGESIZE);
}

void MemoryWatch::Range::add(int64_t value) {
  if (!seen) first = least = most = value;
  seen = true;
  least = std::min(least, value);
  most = std::max(most, value);
}

void MemoryWatch::after_step(int64_t step) {
  if (step < warm_up_) return;
  const memory::Stats now = memory::stats();
  if (!tensors_.seen) first_system_blocks_ = now.system_blocks;
  system_blocks_ = now.system_blocks;
  tensors_.add(static_cast<int64_t>(now.bytes_in_use));
  if ((step - warm_up_) % 100 == 0) resident_.add(resident_bytes());
}

double MemoryWatch::moved() const {
  const int64_t most = std::max(resident_.most - resident_.first, resident_.first - resident_.least);
  return static_cast<double>(most) / static_cast<double>(resident_.first);
}

std::string MemoryWatch::text() const {
  check(tensors_.seen, "wanted at least {} steps, the warm-up", warm_up_);
  const auto kib = [](int64_t bytes) { return static_cast<double>(bytes) / 1024; };
  const auto mib = [&](int64_t bytes) { return kib(bytes) / 1024; };
  return fmt::format(
      "tensors {:.2f} KiB at step {}, {:.2f} to {:.2f} after it; resident {:.2f} MiB, {:.2f} to {:.2f} ({:.2f} % at "
      "most); {} blocks asked of the system",
      kib(tensors_.first), warm_up_, kib(tensors_.least), kib(tensors_.most), mib(resident_.first),
      mib(resident_.least), mib(resident_.most), 100 * moved(), system_blocks_ - first_system_blocks_);
}

bool MemoryWatch::held() const { return tensors_.least == tensors_.most && moved() <= growth_; }

}  // namespace isobar::soak
