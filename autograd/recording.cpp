#include "recording.h"

#include <atomic>
#include <mutex>
#include <set>

#include "../core/tensor.h"
#include "tape_listener.h"

namespace isobar {

constinit thread_local Recording recording;

struct ThreadEnd {
  ~ThreadEnd() {
    for (Tape* tape = recording.tape; tape != nullptr; tape = tape->outer_) tape->home_ = nullptr;
    for (TapeListener* one = recording.listener; one != nullptr; one = one->outer_) one->home_ = nullptr;
    recording.tape = nullptr;
    recording.listener = nullptr;
  }
};
void watch_thread_end() { static thread_local const ThreadEnd end; }

uint64_t thread_mark() {
  static std::atomic<uint64_t> next{TapeSlot::first_mark};
  if (recording.mark == 0) recording.mark = next++;
  return recording.mark;
}

TapeListener::TapeListener() : outer_(std::exchange(recording.listener, this)) { watch_thread_end(); }

TapeListener::~TapeListener() {
  if (home_ == nullptr) return;
  TapeListener** link = &home_->listener;
  while (*link != nullptr && *link != this) link = &(*link)->outer_;
  if (*link != nullptr) *link = outer_;
}

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
  recording.unmarked = true;
  if (recording.tape != nullptr) recording.paused_through = recording.tape->serial();
}

}  // namespace isobar
