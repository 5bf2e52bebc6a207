// A random test whose trial fails prints REPLAY=SEED; with that in the environment it repeats this trial
// alone.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>

namespace isobar {

inline std::optional<uint64_t> replayed_seed() {
  const char* const seed = std::getenv("REPLAY");
  return seed != nullptr ? std::optional(std::stoull(seed)) : std::nullopt;
}

}  // namespace isobar
