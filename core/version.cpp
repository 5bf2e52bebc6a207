#include "version.h"

#include "free_lists.h"

namespace isobar {

using Versions = FreeLists<Version, 1>;

Version* Version::take() {
  return Versions::take(0, [] {
    constexpr size_t slab = 1024;  // versions taken from the system at a time
    auto* const fresh = new Version[slab];
    for (size_t i = 0; i + 1 < slab; ++i) fresh[i].next = &fresh[i + 1];
    return fresh;
  });
}

void Version::give_back(Version* version) noexcept {
  version->stamp_.store(((version->stamp() >> 32) + 1) << 32, std::memory_order_relaxed);
  Versions::give_back(0, version);
}

}  // namespace isobar
