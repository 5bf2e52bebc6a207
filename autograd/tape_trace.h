// TapeTrace: what one tape records and walks back, step by step, with values and gradients. tape_page.h shows it.
//
//   TapeTrace trace;
//   Tape tape;
//   tape.backward(cross_entropy(model(x), y));
//   tape_page(trace, "tape.html");
//
// A tape drops each node in backward and keeps no values; a trace notes them as they pass: shape, dtype, norm,
// smallest and largest value of each tensor, and the numbers of small ones. It follows the first tape that
// records on its thread while it is the innermost log (tape_log.h), and no other.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bad_op.h"
#include "tape_log.h"

namespace isobar {

class TapeTrace : public TapeLog {
 public:
  static constexpr int64_t most_numbers = 64;  // of a tensor that is noted with its numbers
  static constexpr size_t most_ops = 2000;     // later ones are only counted

  struct Value {
    ValueRange range;             // shape and dtype too
    double norm = 0;              // Frobenius
    std::vector<double> numbers;  // row-major; empty for a tensor of more than most_numbers
  };
  static Value value_of(const Tensor& x);

  // What ops read and no op of the tape made: a parameter (trainable, or of an outer tape) or a constant. A
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
  };
  struct Op {
    std::string name, module;  // "linear", "blocks.3.fc1"
    std::vector<Input> inputs;
    Value value;
  };
  // Backward at an op: the gradient of its result, and those that it gave its inputs, summed to their shapes;
  // none for a constant.
  struct Visit {
    size_t op;
    Value dy;
    std::vector<std::optional<Value>> dx;
  };
  struct Step {
    bool backward;
    size_t number;  // of the op or the visit
  };

  const std::vector<Source>& sources() const { return sources_; }
  const std::vector<Op>& ops() const { return ops_; }
  const std::vector<Visit>& visits() const { return visits_; }
  // Ops and visits in the order in which they happened; what a higher-order backward records comes before its visit.
  const std::vector<Step>& steps() const { return steps_; }
  size_t recorded() const { return recorded_; }

  void on_record(uint64_t tape, const Node& node, const Tensor& y,
                 std::span<const Tensor* const> inputs) override;
  void on_backward(uint64_t tape, const Node& node, const Tensor& dy) override;
  void on_gradients(uint64_t tape, const Node& node, std::span<const Tensor> dx) override;
  void on_failure() override { dys_.pop_back(); }

 private:
  Input input_of(const Tensor& x, const Node& reader, const Node::Input& input);

  uint64_t tape_ = 0;       // the tape that is followed, by its serial number
  std::vector<Value> dys_;  // of the backwards under way, the innermost last
  size_t recorded_ = 0;
  std::vector<Source> sources_;
  std::vector<Op> ops_;
  std::vector<Visit> visits_;
  std::vector<Step> steps_;
  std::map<int64_t, size_t> op_of_slot_;
  std::map<std::pair<const void*, uint64_t>, size_t> source_of_;  // by the tensor's id() and its stamp
};

}  // namespace isobar
