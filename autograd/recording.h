// Recording: the recording state of a thread. One struct has all that an op uses besides its arguments. The
// classes below change it in a block of code and restore it.
//
//   const NoTape pause;                        // nothing is recorded until the end of the block
//   const Scope scope("blocks.3.self_attn");   // ops belong to the module of this name
//
// Every thread has its own recording. Kernels on other threads never read it.
//
// A result that is computed without a tape from trainable tensors is a constant. A later tape of the same
// thread uses it as a constant. A tape of another thread throws Error, because that gradient would probably
// be lost by mistake. To find this, such a result has the mark of its thread. Results under NoTape, and of
// detach(), are intended as constants and have no mark.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace isobar {

class Tape;
class TapeListener;
class Evaluation;

// A name that lives as long as the program, because nodes store its address. Null by default.
class ScopeName {
 public:
  constexpr ScopeName() = default;
  operator const std::string*() const { return text_; }
  const std::string* operator->() const { return text_; }

 private:
  friend class Scope;
  explicit ScopeName(const std::string* text) : text_(text) {}
  const std::string* text_ = nullptr;
};

struct Recording {
  Tape* tape = nullptr;         // the innermost one that lives on this thread
  uint64_t pieces = 0;          // the step of which a piece (nn/pieces.h) runs on this thread, or 0
  uint64_t paused_through = 0;  // tapes up to this serial number do not record now
  bool counts_targets = false;  // the loss of the piece is weighted by Tape::targets_of()
  bool unmarked = false;        // within NoTape: results without a tape are intended as constants
  uint64_t mark = 0;            // the mark of results of this thread without a tape; 0 before the first one
  TapeListener* listener = nullptr;  // is notified of recorded nodes and of the backward pass
  Evaluation* evaluation = nullptr;  // the innermost one (nn/model.h) on this thread
  ScopeName scope;                   // the module that records, "blocks.3.self_attn"
};

extern constinit thread_local Recording recording;

// Lets tapes and listeners of this thread know when it ends: they may end later, on another one.
void watch_thread_end();

// The mark of this thread, which no other thread of the program ever has.
uint64_t thread_mark();

// Restores this thread's recording at the end of a block, except its mark, and except tape and listener:
// these enter and leave their lists themselves, in any order.
class RecordingGuard {
 public:
  [[nodiscard]] RecordingGuard() : before_(recording) {}
  ~RecordingGuard() {
    before_.tape = recording.tape;
    before_.listener = recording.listener;
    before_.mark = recording.mark;
    recording = before_;
  }
  RecordingGuard(const RecordingGuard&) = delete;
  RecordingGuard& operator=(const RecordingGuard&) = delete;

 private:
  Recording before_;
};

// Names the part of the program that records, such as a module, in a block of code. Errors, printed tapes and
// Tape::next_rng() use the name. A text is interned, which costs a lookup; a ScopeName costs nothing.
class Scope {
 public:
  [[nodiscard]] explicit Scope(ScopeName name) { recording.scope = name; }
  [[nodiscard]] explicit Scope(std::string_view text) : Scope(intern(text)) {}

  // Returns a copy of `text` that lives as long as the program; the same copy for equal texts.
  static ScopeName intern(std::string_view text);

 private:
  const RecordingGuard guard_;
};

// For a task of another thread (parallel_tasks), which called thread_mark() before: this thread computes with
// that thread's mark, takes its marked results as constants, and evaluates the models that it evaluates.
class AsCaller {
 public:
  [[nodiscard]] explicit AsCaller(const Recording& caller)
      : mark_(std::exchange(recording.mark, caller.mark)),
        evaluation_(std::exchange(recording.evaluation, caller.evaluation)) {}
  ~AsCaller() {
    recording.mark = mark_;
    recording.evaluation = evaluation_;
  }
  AsCaller(const AsCaller&) = delete;

 private:
  const uint64_t mark_;
  Evaluation* const evaluation_;
};

// Stops recording in a block of code: results are constants, for tapes of other threads too. A tape that is
// opened inside the block records; for it the tensors of the paused tape are leaves.
class NoTape {
 public:
  [[nodiscard]] NoTape();

 private:
  const RecordingGuard guard_;
};

}  // namespace isobar
