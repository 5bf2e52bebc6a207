#include "recording.h"

#include <mutex>
#include <unordered_set>

#include "tape.h"

namespace isobar {

constinit thread_local Recording recording;

ScopeName Scope::intern(std::string_view text) {
  static std::mutex mutex;
  static auto* const names =
      new std::unordered_set<std::string>;  // never destroyed: nodes may outlive statics
  const std::lock_guard lock(mutex);
  return ScopeName(&*names->emplace(text).first);
}

NoTape::NoTape() {
  if (recording.tape != nullptr) recording.paused = recording.tape->serial();
}

WithPrecision::WithPrecision(Precision precision) {
  recording.precision = bf16_obstacle().empty() ? precision : Precision::f32;
}

}  // namespace isobar
