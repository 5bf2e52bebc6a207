// TapeTrace: what this thread records and walks back, step by step, with values and gradients.
//
//   TapeTrace trace;
//   Tape tape;
//   tape.backward(cross_entropy(model(x), y));
//   fmt::print("{}", tape_text(trace));
//
// A tape drops each node in backward and keeps no values; a trace notes them as they pass. Functions of a
// trace show it: tape_text(), tape_dot() and missing_gradients() (tape_text.h), tape_page() (tape_page.h),
// first_bad_op() (bad_op.h). They may be called at any time, also after an exception has ended a walk. All
// values are read, so a step under a trace takes several times as long as without. A trace is for one step:
// it notes every tape of its thread, and keeps each batch and each tensor that is not finite.
#pragma once

#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "../tape_listener.h"

namespace isobar {

// The extent of a tensor's values, floats or integers, and where the first one that is not finite stands.
struct ValueRange {
  Shape shape = {};
  Dtype dtype = Dtype::f64;
  double least = std::numeric_limits<double>::quiet_NaN(),
         greatest = least;  // of the finite values; NaN for none
  int64_t nans = 0, infinities = 0;
  int64_t first_bad = -1;  // place of the first value that is not finite, in row-major order, or -1
  double bad_value = 0;    // what is there: NaN or an infinity

  bool finite() const { return first_bad < 0; }
  // first_bad as an index for each dimension.
  std::vector<int64_t> index() const { return shape.index_at(first_bad); }
  // "[16, 64] from -1.5 to 2", "[16, 64] from -1.5 to 2 and 3 NaN".
  std::string text() const;
  // "inf at [3, 0] and 1 more place of its result [4, 2]", for `of` "its result".
  std::string bad_text(const std::string& of) const;
};
// Throws Error for an undefined tensor.
ValueRange range_of(const Tensor& x);

class TapeTrace : public TapeListener {
 public:
  static constexpr int64_t most_numbers = 64;  // of a tensor that is noted with its numbers

  struct Value {
    ValueRange range;             // shape and dtype too
    double norm = 0;              // Frobenius, summed in double
    std::vector<double> numbers;  // row-major; empty for a tensor of more than most_numbers
  };
  static Value value_of(const Tensor& x);

  // What ops read and no op of the trace made: a parameter (trainable, or of an outer tape) or a constant. A
  // tensor that is overwritten between two ops is two of them.
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
  // Backward at an op: the gradient of its result, and those that it gave its inputs, summed to their shapes;
  // none for a constant. No dx where backward threw.
  struct Visit {
    size_t op;
    Value dy;
    std::vector<std::optional<Value>> dx;
  };
  struct Step {
    bool backward;
    size_t number;  // of the op or the visit
  };
  // The first gradient that was not finite, of the visit's dy (input −1) or as backward gave it.
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
  // Ops, and visits that ended, in the order in which they happened; what a backward records comes before its
  // visit.
  const std::vector<Step>& steps() const { return steps_; }
  const std::optional<BadGradient>& bad_gradient() const { return bad_gradient_; }

  // Of what ops read: where it is noted. An absent input has a value of no shape and no numbers.
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
  std::vector<size_t> open_;                                      // visits under way, the innermost last
  std::map<std::pair<uint64_t, int64_t>, size_t> op_at_;          // by tape and slot
  std::map<std::pair<const void*, uint64_t>, size_t> source_of_;  // by the tensor's id() and its stamp
};

}  // namespace isobar
