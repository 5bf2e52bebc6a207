// TapeListener: is notified of each node that this thread records, and of each step of the backward pass.
// TapeTrace (tape_trace.h) is a listener that stores them; a Profile (profile.h) has one that measures time.
//
// A listener belongs to its thread and is notified of the tapes of that thread only. If there are several
// listeners, the innermost one is notified. Listeners end in any order, also on another thread.
#pragma once

#include <cstdint>

#include "tape.h"

namespace isobar {

class TapeListener {
 public:
  TapeListener();
  virtual ~TapeListener();
  TapeListener(const TapeListener&) = delete;
  TapeListener& operator=(const TapeListener&) = delete;

  // Called after a tape was opened.
  virtual void opened() {}
  // Called where the call of a module begins and where it ends. recording.scope still is the caller at the
  // begin, and the module at the end.
  virtual void called() {}
  // Called after a tape, which is identified by its serial number, has recorded a node.
  virtual void recorded(uint64_t tape, const Node& node, const Tensor& y,
                        std::span<const Tensor* const> inputs) = 0;
  // Called before and after a backward pass, also if it threw.
  virtual void backward_begins() {}
  virtual void backward_ends() {}
  // Called before the backward of a node.
  virtual void walking(uint64_t tape, const Node& node, const Tensor& dy) = 0;
  // Called after the backward of a node, with the gradients dx, which are not yet summed to the shapes of the
  // inputs. Not called if it threw.
  virtual void walked(uint64_t /*tape*/, const Node& /*node*/, std::span<const Tensor> /*dx*/) {}

 private:
  friend struct ThreadEnd;
  Recording* home_ = &recording;  // of the thread that made this listener; null once that has ended
  TapeListener* outer_;           // the listener that this one hides
};

}  // namespace isobar
