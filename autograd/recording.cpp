#include "recording.h"

#include <mutex>
#include <set>

#include "tape.h"
#include "tape_log.h"

namespace isobar {

constinit thread_local Recording recording;

struct ThreadEnd {
  ~ThreadEnd() {
    for (Tape* tape = recording.tape; tape != nullptr; tape = tape->outer_) tape->home_ = nullptr;
    for (TapeLog* log = recording.log; log != nullptr; log = log->outer_) log->home_ = nullptr;
    recording.tape = nullptr;
    recording.log = nullptr;
  }
};
void watch_thread_end() { static thread_local const ThreadEnd end; }

ScopeName Scope::intern(std::string_view text) {
  static std::mutex mutex;
  using Names = std::set<std::string, std::less<>>;
  static auto* const names = new Names;  // never destroyed: nodes may outlive statics
  const std::lock_guard lock(mutex);
  auto known = names->find(text);
  if (known == names->end()) known = names->emplace(text).first;
  return ScopeName(&*known);
}

NoTape::NoTape() {
  if (recording.tape != nullptr) recording.paused = recording.tape->serial();
}

WithPrecision::WithPrecision(Precision precision) {
  recording.precision = bf16_obstacle().empty() ? precision : Precision::f32;
}

}  // namespace isobar
