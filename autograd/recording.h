// Recording: what this thread records now, and for whom. One struct holds all that an op does not get as an
// argument; the classes below change it for a block of code and put it back.
//
//   const NoTape pause;                         // nothing is recorded until the end of the block
//   const WithPrecision low(Precision::bf16);   // matrix products on bf16 operands
//   const Scope scope(name);                    // ops belong to the module of this name
//
// Every thread has a recording of its own. Kernels on other threads never read it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "../core/precision.h"

namespace isobar {

class Tape;
class TapeLog;

struct Recording {
  Tape* tape = nullptr;                  // the innermost one that lives on this thread
  uint64_t paused = 0;                   // tapes up to this serial number do not record now
  TapeLog* log = nullptr;                // sees what is recorded and walked back
  const std::string* scope = nullptr;    // the module that records, "blocks.3.self_attn"
  Precision precision = Precision::f32;  // of matrix products
  bool recomputing = false;              // a backward runs the function of a recompute() again
};

extern constinit thread_local Recording recording;

// Puts this thread's recording back at the end of a block. Tape and log are exceptions: they enter and leave
// their lists themselves, in any order.
class RecordingGuard {
 public:
  RecordingGuard() : before_(recording) {}
  ~RecordingGuard() {
    before_.tape = recording.tape;
    before_.log = recording.log;
    recording = before_;
  }
  RecordingGuard(const RecordingGuard&) = delete;
  RecordingGuard& operator=(const RecordingGuard&) = delete;

 private:
  Recording before_;
};

// Names the part of the program that records, such as a module. Nodes keep the name; errors, prints of a tape
// and dropout's keys use it.
class Scope {
 public:
  explicit Scope(const std::string* name) { recording.scope = name; }

  // A copy of `name` that lives as long as the program: nodes point to it.
  static const std::string* intern(std::string_view name);

 private:
  const RecordingGuard guard_;
};

// Stops recording. A tape that opens meanwhile records, and sees the tensors of the paused one as leaves.
class NoTape {
 public:
  NoTape();

 private:
  const RecordingGuard guard_;
};

// Sets the precision of matrix products; see core/precision.h. Where bf16 has an obstacle, it means f32: a
// program that wants its user to know prints bf16_obstacle().
class WithPrecision {
 public:
  explicit WithPrecision(Precision precision);

 private:
  const RecordingGuard guard_;
};

// True while a backward computes the function of a recompute() again. What a forward does beside its result,
// such as moving running statistics or showing a value to an observer, has been done then.
inline bool recomputing() { return recording.recomputing; }

}  // namespace isobar
