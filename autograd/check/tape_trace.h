// TapeTrace: the recorded ops of this thread and their backward passes, with values and gradients.
//
//   TapeTrace trace;
//   Tape tape;
//   tape.backward(cross_entropy(model(x), y));
//   fmt::print("{}", tape_text(trace));
//
// A tape frees each node in the backward pass and stores no values, so a trace stores them. These functions
// show a trace: tape_text(), tape_dot() and missing_gradients() (tape_text.h), tape_page() (tape_page.h),
// first_bad_op() (bad_op.h). They may be called at any time, also after an exception in a backward pass. All
// values are read, so a step with a trace takes several times as long. A trace is for one step: it stores the
// ops of every tape of its thread, each batch, and each tensor that is not finite.
#pragma once

#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "../tape_listener.h"

namespace isobar {

// The range of the values of a tensor, floats or integers, and the position of the first one that is not
// finite.
struct ValueRange {
  Shape shape = {};
  Dtype dtype = Dtype::f64;
  double least = std::numeric_limits<double>::quiet_NaN(),
         greatest = least;  // of the finite values; NaN for none
  int64_t nans = 0, infinities = 0;
  int64_t first_bad = -1;  // position of the first value that is not finite, in row-major order, or -1
  double bad_value = 0;    // that value: NaN or an infinity

  bool finite() const { return first_bad < 0; }
  // first_bad as an index for each dimension.
  std::vector<int64_t> index() const { return shape.index_at(first_bad); }
  // "[16, 64] from -1.5 to 2", "[16, 64] from -1.5 to 2 and 3 NaN".
  std::string text() const;
  // "inf at [3, 0] and 1 more place of its result [4, 2]", for `of` "its result".
  std::string bad_text(const std::string& of) const;
};
// Returns the range of x. Throws Error for an undefined tensor.
ValueRange range_of(const Tensor& x);

class TapeTrace : public TapeListener {
 public:
  static constexpr int64_t most_numbers = 64;  // elements of a tensor whose values are stored

  struct Value {
    ValueRange range;             // shape and dtype too
    double norm = 0;              // Frobenius, summed in double
    std::vector<double> numbers;  // row-major; empty for a tensor of more than most_numbers
  };
  static Value value_of(const Tensor& x);

  // An input from outside the trace: a parameter (trainable, or of an outer tape) or a constant. A tensor
  // that is overwritten between two ops counts as two of them.
  struct Source {
    Tensor tensor;
    bool constant;
    std::string module;  // of the op that read it first
    Value value;
  };
  struct Input {
    enum class Kind { op, source, absent };
    Kind kind;
    size_t number;  // of the op or the source
    int64_t slot;   // on the tape of the op that reads it, as in Node::Input
  };
  struct Op {
    std::string name, module;  // "linear", "blocks.3.fc1"
    uint64_t tape;             // by its serial number
    int64_t slot;
    std::vector<Input> inputs;
    Value value;
    Tensor bad = {};  // the result, where it is not finite

    std::string place() const { return place_of(name, module); }
  };
  // The backward pass of an op: the gradient of its result, and the gradients of its inputs, summed to their
  // shapes; none for a constant. dx is empty if the backward pass threw.
  struct Visit {
    size_t op;
    Value dy;
    std::vector<std::optional<Value>> dx;
  };
  struct Step {
    bool backward;
    size_t number;  // of the op or the visit
  };
  // The first gradient that was not finite: dy of the visit (input −1), or the gradient of an input.
  struct BadGradient {
    size_t visit;
    int64_t input;
    Tensor values;
  };

  const std::vector<Source>& sources() const { return sources_; }
  const std::vector<Op>& ops() const { return ops_; }
  // The serial numbers of the tapes, in the order of their first ops.
  const std::vector<uint64_t>& tapes() const { return tapes_; }
  const std::vector<Visit>& visits() const { return visits_; }
  // The ops, and the visits that ended, in the order of time; ops that a backward pass records come before
  // its visit.
  const std::vector<Step>& steps() const { return steps_; }
  const std::optional<BadGradient>& bad_gradient() const { return bad_gradient_; }

  // Returns the stored value of an input. An absent input has a value without shape and numbers.
  const Value& value_of(const Input& input) const;

  void recorded(uint64_t tape, const Node& node, const Tensor& y,
                std::span<const Tensor* const> inputs) override;
  void walking(uint64_t tape, const Node& node, const Tensor& dy) override;
  void walked(uint64_t tape, const Node& node, std::span<const Tensor> dx) override;

 private:
  Input input_of(const Tensor& x, const Node& reader, const Node::Input& input);
  void note_gradient(size_t visit, int64_t input, const Tensor& x);

  std::vector<Source> sources_;
  std::vector<Op> ops_;
  std::vector<uint64_t> tapes_;
  std::vector<Visit> visits_;
  std::vector<Step> steps_;
  std::optional<BadGradient> bad_gradient_;
  std::vector<size_t> open_;                              // visits that have not ended, the innermost last
  std::map<std::pair<uint64_t, int64_t>, size_t> op_at_;  // by tape and slot
  std::map<std::pair<const void*, uint64_t>, size_t> source_of_;  // by the tensor's id() and its stamp
};

}  // namespace isobar
