// Phase: names what this thread does outside of ops: "optimizer", "data", "evaluation". A profile
// (autograd/profile.h) counts its time by these names.
//
//   const Phase phase("data");   // to the end of the block
//
// Without a profile a phase costs the test of one pointer when it begins, and another when it ends.
#pragma once

#include <utility>

namespace isobar {

class PhaseListener {
 public:
  // Called before the phase of this thread changes. Phase::current has its name.
  virtual void phase_ends() = 0;

 protected:
  ~PhaseListener() = default;
};

class Phase {
 public:
  // `name` lives as long as the program. Null: the thread waits for others, and its time is not counted.
  [[nodiscard]] explicit Phase(const char* name) : other_(name) { change(); }
  ~Phase() { change(); }
  Phase(const Phase&) = delete;

  // Of this thread.
  struct Current {
    const char* name = "other";
    PhaseListener* listener = nullptr;
  };
  static constinit thread_local Current current;

 private:
  void change() {
    if (current.listener != nullptr) current.listener->phase_ends();
    std::swap(current.name, other_);
  }
  const char* other_;  // the phase that this one interrupts; within change() it is the next one
};

}  // namespace isobar
