// TapeListener: sees what this thread records and walks back, as it happens. TapeTrace (tape_trace.h) is the
// one that notes it.
//
// A listener belongs to its thread and sees the tapes of that thread only. Of several listeners, the
// innermost one sees them. Listeners end in any order, also on another thread that the listener was given to.
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

  // A tape, which is known by its serial number, has recorded a node.
  virtual void recorded(uint64_t tape, const Node& node, const Tensor& y,
                        std::span<const Tensor* const> inputs) = 0;
  // The backward of a node begins.
  virtual void walking(uint64_t tape, const Node& node, const Tensor& dy) = 0;
  // It gave the gradients dx, which are not yet summed to the inputs' shapes. Not called where it threw.
  virtual void walked(uint64_t tape, const Node& node, std::span<const Tensor> dx) = 0;

 private:
  friend struct ThreadEnd;
  Recording* home_ = &recording;  // of the thread that made this listener; null once that has ended
  TapeListener* outer_;           // the listener that this one hides
};

}  // namespace isobar
