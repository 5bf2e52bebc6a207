#include "recompute.h"

#include <bit>
#include <cstring>

#include "tape.h"

namespace isobar {
namespace {

bool same_tensors(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Tensor& x, const Tensor& y) { return x.id() == y.id(); });
}

// One step of a hash: a multiplication as in FNV-1a. It carries bits upwards only, so the rotation before it
// brings the high ones down: else a sign in bit 63 would reach no other bit, and two flipped signs would
// cancel.
uint64_t mixed(uint64_t hash, uint64_t word) {
  constexpr uint64_t prime = 0x100000001b3;  // FNV's, for 64 bits
  return (std::rotl(hash, 29) ^ word) * prime;
}

// A hash of the bits, in the tensor's own order, on words of 8 bytes in four chains that do not wait for each
// other. It reads memory faster than any op writes it.
uint64_t hash_of(const Tensor& x) {
  const Tensor y = raw::contiguous(x);
  const auto [bytes, size] = dispatch_any(y.dtype(), [&]<class T>() {
    return std::pair(reinterpret_cast<const char*>(y.data<T>()), y.numel() * sizeof(T));
  });
  std::array<uint64_t, 4> chains{1, 2, 3, 4};
  size_t at = 0;
  for (; at + sizeof chains <= size; at += sizeof chains) {
    std::array<uint64_t, 4> words;
    std::memcpy(words.data(), bytes + at, sizeof words);
    for (size_t i = 0; i < 4; ++i) chains[i] = mixed(chains[i], words[i]);
  }
  uint64_t hash = 0;
  for (; at < size; ++at) hash = mixed(hash, static_cast<unsigned char>(bytes[at]));
  for (const uint64_t chain : chains) hash = mixed(hash, chain);
  return hash;
}

}  // namespace

// The node of a recompute(). Its inputs are the leaves of the first pass: x and the weights. The second pass
// records on a tape of its own, and the outer walk continues there with its sums, so that gradients are added
// in the same order, and to the same bits, as on one long tape.
class RecomputeNode final : public Node {
 public:
  RecomputeNode(Tape& outer, std::function<Tensor(const Tensor&)> f, const Tensor& x)
      : outer_(outer), f_(std::move(f)), x_(x) {
    continues_sums = true;
  }

  Tensor first_pass() {
    Tape first(outer_, Tape::Pass::first, rngs_);
    const Tensor y = f_(x_);
    if (first.slot_of(y) >= 0) {
      leaves_ = first.leaves();
      hash_ = hash_of(y);
    }
    constants_ = std::move(first.constants_);
    targets_ = std::move(first.targets_);
    if (outer_.pass_ == Tape::Pass::first)
      outer_.constants_.insert(outer_.constants_.end(), constants_.begin(), constants_.end());
    return y;
  }
  const std::vector<Tensor>& leaves() const { return leaves_; }
  // What the first pass noted, for the result of this node.
  TapeVector<std::pair<int64_t, TargetCount>> take_targets() { return std::move(targets_); }

  void backward(Tensor dy, Wants, std::span<Tensor> sums) override {
    Tape::check_constants(*this, constants_);
    Tape second(outer_, Tape::Pass::second, rngs_);
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
    recording.recomputing = true;
    const Tensor y = f_(x_);
    check(second.slot_of(y) >= 0 && y.shape() == shape && same_tensors(second.leaves(), leaves_),
          "recompute: the function gave {} from {} tensors that want a gradient, and in backward {} from {}; "
          "it must do the same twice",
          shape, leaves_.size(), y.shape(), second.leaves().size());
    check(
        hash_of(y) == hash_,
        "recompute: the function gave other values {} in backward than before; it must do the same twice, so "
        "leave what it reads unchanged until then",
        shape);
    return second.slot_of(y);
  }

  Tape& outer_;
  const std::function<Tensor(const Tensor&)> f_;
  const Tensor x_;
  std::vector<Tensor> leaves_;
  std::vector<Input> constants_;
  TapeVector<std::pair<int64_t, TargetCount>> targets_;
  std::vector<Rng> rngs_;
  uint64_t hash_ = 0;  // of the first pass's result
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
  node->kind = Node::Kind::view;
  const Tensor inner = node->first_pass();
  if (node->leaves().empty()) return inner;
  // f may return x or a weight itself, whose slot must not change.
  const Tensor y = raw::as_strided(inner, inner.shape(), inner.strides());
  std::vector<const Tensor*> inputs;
  for (const Tensor& leaf : node->leaves()) inputs.push_back(&leaf);
  const auto targets = node->take_targets();
  tape->append(std::move(node), y, inputs);
  for (const auto& noted : targets) tape->note_targets(y, noted.second);
  return y;
}

}  // namespace isobar
