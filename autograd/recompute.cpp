#include "recompute.h"

#include "../core/raw.h"
#include "tape.h"

namespace isobar {
namespace {

bool same_tensors(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Tensor& x, const Tensor& y) { return x.id() == y.id(); });
}

}  // namespace

// Its inputs are the leaves of the first pass: x and the weights. The second pass records on a tape of its
// own, and the walk goes on there with the sums of the outer one: so gradients add up in the order, and to
// the bits, of one long tape.
class RecomputeNode final : public Node {
 public:
  RecomputeNode(Tape& outer, std::function<Tensor(const Tensor&)> f, const Tensor& x)
      : outer_(outer), f_(std::move(f)), x_(x) {
    continues_sums = true;
  }

  Tensor first_pass() {
    Tape first(outer_, Tape::Pass::first, keys_);
    const Tensor y = f_(x_);
    if (first.slot_of(y) >= 0) leaves_ = first.leaves();
    constants_ = std::move(first.constants_);
    if (outer_.pass_ == Tape::Pass::first)
      outer_.constants_.insert(outer_.constants_.end(), constants_.begin(), constants_.end());
    return y;
  }
  const std::vector<Tensor>& leaves() const { return leaves_; }

  void backward(Tensor dy, Wants, std::span<Tensor> sums) override {
    Tape::check_constants(*this, constants_);
    Tape second(outer_, Tape::Pass::second, keys_);
    const int64_t start = again(second);
    std::vector<int64_t> slots;
    for (const Tensor& leaf : leaves_) slots.push_back(second.slot_of(leaf));
    const NoTape pause;
    second.walk(start, std::move(dy), slots, sums);
  }

 private:
  // Records f(x) and returns its slot.
  int64_t again(Tape& second) {
    const RecordingGuard guard;
    recording.scope = recorded_.scope;
    recording.precision = recorded_.precision;
    recording.recomputing = true;
    const Tensor y = f_(x_);
    check(second.slot_of(y) >= 0 && y.shape() == shape && same_tensors(second.leaves(), leaves_),
          "recompute: the function gave {} from {} tensors that want a gradient, and in backward {} from {}; "
          "it must do the same twice",
          shape, leaves_.size(), y.shape(), second.leaves().size());
    return second.slot_of(y);
  }

  Tape& outer_;
  const std::function<Tensor(const Tensor&)> f_;
  const Tensor x_;
  std::vector<Tensor> leaves_;
  std::vector<Input> constants_;
  std::vector<Rng> keys_;
  const Recording recorded_ = recording;
};

Tensor recompute(std::function<Tensor(const Tensor&)> f, const Tensor& x) {
  Tape* tape = Tape::active();
  if (tape == nullptr) return f(x);
  check(!tape->options().higher_order,
        "recompute: a higher-order tape keeps all of its nodes, so nothing would be saved; call the function "
        "itself");
  auto node = std::make_unique<RecomputeNode>(*tape, std::move(f), x);
  node->name = "recompute";
  const Tensor inner = node->first_pass();
  // f may return x or a weight, whose place on the tape must stay.
  const Tensor y = raw::as_strided(inner, inner.shape(), inner.strides());
  std::vector<const Tensor*> inputs;
  for (const Tensor& leaf : node->leaves()) inputs.push_back(&leaf);
  if (!inputs.empty()) tape->append(std::move(node), y, inputs);
  return y;
}

}  // namespace isobar
