// BadOp: the op that made the first NaN or infinity of a step, told apart from the ops that passed it on.
//
//   BadOpSearch search;                       // sees what this thread records and walks back
//   Tape tape;
//   tape.backward(cross_entropy(model(x), y));
//   if (const std::optional<BadOp> bad = search.found()) fmt::print("{}\n", bad->text());
//   // forward of exp in blocks.1.norm made inf at [3, 0, 17] of its result [16, 64, 128] out of [16, 64, 128] from -4.1 to 93.8
//
// Where a loss is not finite, the search goes back from it, from each result that is not finite to the input that
// brought it, until an op had finite inputs: that op is the producer. Infinities in constants, as an attention mask
// has them, are not followed: then the producer is the op that made NaN of them. Where the loss is finite, the producer
// is the first op in backward order whose gradient is not finite though dy is, or what backward kept of an infinity
// in forward. An op within a recompute() is found when backward runs that again; before, and after a forward alone,
// the recompute() stands for it. All values are read, so a step under a search takes several times as long as without.
#pragma once

#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tape_log.h"

namespace isobar {

// The values of a tensor, floats or integers.
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
  std::vector<int64_t> index() const;
  // "[16, 64] from -1.5 to 2", "[16, 64] from -1.5 to 2 and 3 NaN".
  std::string text() const;
};
// Throws Error for an undefined tensor.
ValueRange range_of(const Tensor& x);

struct BadOp {
  // What made it: an op, of finite inputs; no op, for a parameter or a constant came in like that; an op's backward,
  // of a finite dy; or the sum of the gradients of all uses of an op's result, each of them finite.
  enum class Way { forward, input, backward, sum };

  Way way;
  std::string op, module;  // "exp"; "blocks.1.norm", or "" outside of all modules
  size_t number;  // in the order of recording within its piece, from 0: the same in each run. An op within
                  // a recompute() has the number of that
  int64_t tape;   // which of the step's tapes, from 0: the piece of a batch in pieces
  std::vector<ValueRange> inputs;  // of the forward; shape [] and no values where one is absent
  std::optional<ValueRange> dy;    // of a backward
  int64_t input = -1;              // which input came in, or whose gradient it is
  ValueRange result;               // what is not finite
  Tensor values;  // the same, whole; for an input that came in the op's result, if that is not finite
  int64_t values_of = -1;  // the input whose values or gradient they are; -1: the op's result or dy
  Tensor leaf;             // the parameter that came in, else undefined
  std::string turned_nan;  // the op that made NaN of the producer's infinity, "softmax in blocks.0", or ""
  int64_t passed_on = 0;   // results and gradients of other ops that are not finite either

  // "forward of exp in blocks.1.norm", "backward of sqrt".
  std::string place() const;
  // Where, what, its index, and the ranges of the inputs; one line. `leaf_name` is the parameter's.
  std::string text(const std::string& leaf_name = "") const;
};

class BadOpSearch : public TapeLog {
 public:
  // After backward, or after a forward alone, whose last op then stands for the loss. Nothing where all is finite.
  std::optional<BadOp> found() const;

  // The shape of the bad op's tensor in a run with another batch: of `bad.values`, if this search saw the op of its
  // number. For who wants to know which dimension is the batch.
  std::optional<Shape> shape_of(const BadOp& bad) const;

  void on_record(uint64_t tape, const Node& node, const Tensor& y,
                 std::span<const Tensor* const> inputs) override;
  void on_backward(uint64_t tape, const Node& node, const Tensor& dy) override;
  void on_gradients(uint64_t tape, const Node& node, std::span<const Tensor> dx) override;
  void on_failure() override { under_way_.pop_back(); }

 private:
  using Place = std::pair<uint64_t, int64_t>;  // tape and slot
  struct Input {
    ValueRange range;
    Tensor leaf;            // defined for a parameter that is not finite
    int64_t from = -1;      // the op that made it, or -1
    bool constant = false;  // neither recorded nor trainable
    Tensor values;          // where it is not finite and no op made it
  };
  struct Op {
    std::string name, module;
    Place place;
    bool recomputed;  // a recompute()
    std::vector<Input> inputs;
    ValueRange result;
    Tensor values;  // of a result that is not finite
  };
  BadOp at(size_t number, BadOp::Way way) const;
  BadOp producer_of(size_t number) const;
  void find(BadOp bad);
  void find_within(size_t number);

  std::vector<Op> ops_;
  std::map<Place, size_t> numbers_;
  std::vector<uint64_t> tapes_;  // whose walk has begun, in order
  struct Walked {
    Place place;
    ValueRange dy;
  };
  bool within_found() const;
  std::vector<Walked> under_way_;  // backwards, the innermost last
  std::optional<BadOp> found_;
  Place found_at_;         // of the recompute() that was found, whose backward records the ops within
  bool new_walk_ = false;  // something was recorded since the last walk
  size_t first_ = 0;       // the op that was recorded first since then
};

}  // namespace isobar
