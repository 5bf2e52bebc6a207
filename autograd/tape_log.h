// TapeLog: what this thread records and walks back, line by line as it happens, with shapes and norms; and
// which parameters got no gradient, and why.
//
//   TapeLog log;
//   Tape tape;
//   tape.backward(cross_entropy(model(x), y));
//   fmt::print("{}", log.text());
//   //   forward
//   //     %2  linear  (constant [32, 784], %0 [256, 784], %1 [256]) -> [32, 256], norm 91.3, in fc1
//   //   backward
//   //     %2  linear  dy [32, 256], norm 0.0318 -> none, %0 norm 0.744, %1 norm 0.0521, in fc1
//
// Slots %n are those of tape_text(). A log belongs to its thread and sees the tapes of that thread only. Of
// several logs, the innermost one sees them. Logs end in any order, also on another thread that the log was
// given to. A class derived from it sees the nodes instead:
// bad_op.h.
#pragma once

#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tape.h"

namespace isobar {

class TapeLog {
 public:
  TapeLog();
  virtual ~TapeLog();
  TapeLog(const TapeLog&) = delete;
  TapeLog& operator=(const TapeLog&) = delete;

  // The lines of forward and of backward. The norm of a result is Frobenius, summed in double.
  std::string text() const;

  // A line for each of these, (name, tensor), that has no gradient or one of zeros, with the reason: frozen,
  // never used, used by ops that the loss does not depend on, or lost at an op whose backward returned none.
  // Empty where all have one. Call it after backward and before step(), which clears gradients.
  std::string missing_gradients(const std::vector<std::pair<std::string, Tensor>>& parameters) const;

  // For the tape, which is known by its serial number: a node is recorded; its backward begins; its backward gave the
  // gradients dx, before they are summed to the inputs' shapes; or the innermost backward under way threw.
  virtual void on_record(uint64_t tape, const Node& node, const Tensor& y,
                         std::span<const Tensor* const> inputs);
  virtual void on_backward(uint64_t tape, const Node& node, const Tensor& dy);
  virtual void on_gradients(uint64_t tape, const Node& node, std::span<const Tensor> dx);
  virtual void on_failure() {}

 private:
  struct Use {
    std::string op;  // "linear in fc1"
    uint64_t tape;
    int64_t slot;
    bool walked = false;  // backward visited the op
  };
  std::string forward_, backward_, dy_;
  std::map<const void*, std::vector<Use>> uses_;  // by the tensor's id()
  friend struct ThreadEnd;
  Recording* home_ = &recording;  // of the thread that made this log; null once that has ended
  TapeLog* outer_;                // the log that this one hides
};

}  // namespace isobar
