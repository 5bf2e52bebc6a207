#include "tape.h"

#include <atomic>
#include <mutex>

#include "../core/kernels/map.h"
#include "tape_listener.h"

namespace isobar {
namespace {

std::atomic<uint64_t> last_serial{0};

// The serial numbers of the tapes that live, so that a thread can tell whether a value is recorded on one of
// another thread.
class LivingTapes {
 public:
  void add(uint64_t serial) {
    const std::lock_guard lock(mutex_);
    serials_.push_back(serial);
  }
  void remove(uint64_t serial) {
    const std::lock_guard lock(mutex_);
    std::erase(serials_, serial);
  }
  bool contains(uint64_t serial) {
    const std::lock_guard lock(mutex_);
    return std::find(serials_.begin(), serials_.end(), serial) != serials_.end();
  }

 private:
  std::mutex mutex_;
  std::vector<uint64_t> serials_;
};

LivingTapes& living_tapes() {
  static auto* const tapes = new LivingTapes;  // never destroyed: tapes may outlive statics
  return *tapes;
}

[[noreturn]] void refuse_other_tape(const char* op, const Tensor& x) {
  throw_error(fmt::format(
      "{}: a tensor {} is recorded on a tape of another thread, which cannot record this op, so the gradient would be "
      "lost; call the op on that thread, or detach() the tensor if it is meant to be a constant",
      op, x.shape()));
}

[[noreturn]] void refuse_mark(const char* op, const Tensor& x) {
  throw_error(fmt::format(
      "{}: a tensor {} was computed from trainable tensors on another thread without a tape, so its gradient would be "
      "lost; open a tape there, or detach() it if it is meant to be a constant",
      op, x.shape()));
}

[[noreturn]] void refuse_repeated(const DrawnKeys::Draw& draw) {
  throw_error(fmt::format(
      "backward: {} drew with the key {:#x}, as in an earlier step, so it repeated that step's mask; give each step "
      "and each micro-batch a key of its own, as in Tape tape({{.rng = rng.split(step)}}) or dropout(x, p, "
      "rng.split(step)), or say that the masks repeat, as in Tape tape({{.rng = rng, .again = true}})",
      place_of("a random op", draw.scope != nullptr ? *draw.scope : ""), draw.key));
}

}  // namespace

std::string place_of(std::string_view op, std::string_view module) {
  return fmt::format("{}{}{}", op, module.empty() ? "" : " in ", module);
}

void Node::wrong_count(size_t got, size_t wanted) const {
  throw_error(fmt::format(
      "backward of {}: its closure returned {} gradient{} for {} input{}; return one per input, undefined where "
      "there is none",
      place(), got, got == 1 ? "" : "s", wanted, wanted == 1 ? "" : "s"));
}

// The tapes of a thread form a list, the innermost first.
Tape::Tape(TapeOptions options)
    : options_(std::move(options)), serial_(++last_serial), outer_(recording.tape) {
  const Tape* const around = active();
  check(around == nullptr || (!options_.higher_order && !around->options_.higher_order),
        "tape: a higher-order tape cannot be nested (the inner tape would see the outer one's tensors as "
        "constants); take both gradients on one tape");
  recording.tape = this;
  living_tapes().add(serial_);
  watch_thread_end();
  if (recording.listener != nullptr) recording.listener->opened();
}

Tape::~Tape() {
  // From last to first, so that a node's storages go back to the allocator in the order it handed them out.
  while (!slots_.empty()) slots_.pop_back();
  living_tapes().remove(serial_);
  if (home_ == nullptr) return;
  Tape** link = &home_->tape;  // of another thread, where this one was given the tape
  while (*link != nullptr && *link != this) link = &(*link)->outer_;
  if (*link != nullptr) *link = outer_;
}

// Whether x, which is neither trainable nor of this tape, was computed on an outer tape. Throws if its tape
// has ended or belongs to another thread.
bool Tape::is_outer(const Tensor& x, const char* op) const {
  const uint64_t tape = raw::slot(x).tape;
  if (tape == 0 || tape == recording.mark) return false;
  if (raw::slot(x).marked()) refuse_mark(op, x);
  for (const Tape* outer = outer_; outer != nullptr; outer = outer->outer_)
    if (outer->serial_ == tape) return true;
  if (living_tapes().contains(tape)) refuse_other_tape(op, x);
  throw_error(fmt::format("{}: a tensor {} belongs to a tape that has ended; call detach() or keep one tape",
                          op, x.shape()));
}

// Returns the slot of x on this tape. A leaf gets its slot at its first use.
int64_t Tape::slot_of(const Tensor& x) {
  if (!x.defined()) return Node::Input::absent;
  if (raw::slot(x).tape == serial_) return raw::slot(x).index;
  if (!x.trainable() && !is_outer(x, "tape")) return Node::Input::constant;
  const auto [leaf, fresh] = leaf_slots_.try_emplace(x.id(), next_slot());
  if (fresh) {
    leaves_.push_back({x, leaf->second});
    add_leaf_slot(x.dtype());
  }
  return leaf->second;
}

void Tape::add_leaf_slot(Dtype dtype) {
  Slot& slot = slots_.emplace_back();
  slot.dtype = dtype;
  slot.leaf = true;
}

// Throws if y is an input, trainable or recorded already: a gradient would be lost.
void Tape::check_result(const Node& node, const Tensor& y) const {
  check(!y.trainable(), "{}: its result is a trainable tensor {}; return a new tensor, such as w.detach()",
        node.name, y.shape());
  for (const Tape* tape = this; tape != nullptr; tape = tape->outer_)
    check(
        raw::slot(y).tape != tape->serial_,
        "{}: its result {} is the result of an earlier op on this tape; return a new tensor, such as y.detach()",
        node.name, y.shape());
}

void Tape::append(std::unique_ptr<Node> node, const Tensor& y, std::span<const Tensor* const> inputs) {
  if (walked_ && held_ > 0 && !walking_ && slots_.size() >= 2 * kept_) drop_dead_nodes();
  node->inputs.reserve(inputs.size());
  for (const Tensor* x : inputs) {
    check(x->id() != y.id(),
          "{}: its result is one of its inputs {}; return a new tensor, such as x.detach()", node->name,
          y.shape());
    Node::Input& input = node->inputs.emplace_back();
    input.slot = slot_of(*x);
    input.id = x->id();
    if (!x->defined()) continue;
    const auto& from = raw::Access::of(*x);
    input.shape = from.shape;
    input.version = from.storage->version;
    input.stamp = input.version->stamp();
  }
  node->slot = next_slot();
  check(node->slot < UINT32_MAX, "tape: more than 2^32 ops recorded on one tape");
  auto& result = raw::Access::of(y);
  if (result.slot.recorded() || result.trainable) check_result(*node, y);
  result.slot = {serial_, static_cast<uint32_t>(node->slot)};
  node->scope = recording.scope;
  node->shape = result.shape;
  node->dtype = result.dtype;
  node->version = result.storage->version;
  node->stamp = node->version->stamp();
  ++recorded_;
  slots_.emplace_back().dtype = result.dtype;
  ++held_;
  if (recording.listener != nullptr) recording.listener->recorded(serial_, *node, y, inputs);
  slots_.back().node = std::move(node);
}

std::vector<const Node*> Tape::nodes() const {
  std::vector<const Node*> result;
  for (const Slot& slot : slots_)
    if (slot.node) result.push_back(slot.node.get());
  return result;
}

std::vector<Tensor> Tape::leaves() const {
  std::vector<Tensor> result;
  for (const Leaf& leaf : leaves_) result.push_back(leaf.tensor);
  return result;
}

Rng Tape::next_rng() {
  check(options_.rng.has_value(),
        "tape: a random op, such as dropout, needs an Rng; open the tape as Tape tape({{.rng = "
        "rng.split(step)}}) so that every step draws other masks, and the same ones again on the next run");
  const std::string path = recording.scope != nullptr ? *recording.scope : "";
  const Rng rng = options_.rng->split(path).split(rngs_taken_[path]++);
  note_draw(rng.key());
  return rng;
}

// The gradient of dropout repeats its forward.
void Tape::note_draw(uint64_t key) {
  if (walking_ || options_.again) return;
  if (drawn_.draws.empty() || drawn_.draws.back().key != key) drawn_.draws.push_back({key, recording.scope});
}

void check_draws(DrawnKeys keys, std::span<const Tensor> leaves) {
  if (keys.draws.empty()) return;
  const auto by_key = [](const DrawnKeys::Draw& a, const DrawnKeys::Draw& b) { return a.key < b.key; };
  std::sort(keys.draws.begin(), keys.draws.end(), by_key);
  const auto now = std::allocate_shared<const DrawnKeys>(ObjectAllocator<DrawnKeys>(), std::move(keys));
  const DrawnKeys* compared = nullptr;
  const auto compare = [&](const DrawnKeys* earlier) {
    if (earlier == nullptr || earlier == compared) return;
    for (const DrawnKeys::Draw& draw : now->draws)
      if (std::binary_search(earlier->draws.begin(), earlier->draws.end(), draw, by_key))
        refuse_repeated(draw);
    compared = earlier;
  };
  // The leaves of a model have their first and their last step in common.
  for (const Tensor& leaf : leaves) compare(raw::Access::leaf(leaf).first_draws.get());
  for (const Tensor& leaf : leaves) compare(raw::Access::leaf(leaf).last_draws.get());
  for (const Tensor& leaf : leaves) {
    auto& own = raw::Access::leaf(leaf);
    if (own.first_draws == nullptr) own.first_draws = now;
    own.last_draws = now;
  }
}

void forget_draws(const Tensor& leaf) {
  if (const auto& own = raw::Access::of(leaf).leaf) own->first_draws = own->last_draws = nullptr;
}

uint64_t foreign_mark(const char* op, const Tensor& x) {
  const TapeSlot slot = raw::slot(x);
  if (slot.recorded() && living_tapes().contains(slot.tape)) refuse_other_tape(op, x);
  return slot.marked() && slot.tape != recording.mark ? slot.tape : 0;
}

void mark_constant(const char* op, const Tensor& y, std::span<const Tensor* const> inputs) {
  if (!is_float(y.dtype())) return;  // it has no gradient
  uint64_t mark = thread_mark();
  for (const Tensor* x : inputs) {
    if (!x->defined()) continue;
    if (x->id() == y.id()) return;
    if (const uint64_t foreign = foreign_mark(op, *x); foreign != 0) mark = foreign;  // refused later
  }
  auto& result = raw::Access::of(y);
  if (!result.trainable && result.slot.tape == 0) result.slot.tape = mark;
}

bool composed_wanted() { return Tape::active() != nullptr && Tape::active()->options().higher_order; }

Tensor room_for_gradient(const Tensor& dy) {
  return Tape::active() == nullptr && raw::sole_owner(dy) && dy.is_contiguous()
             ? dy
             : Tensor(dy.shape(), dy.dtype());
}

bool all_finite(const Tensor& x) {
  if (!is_float(x.dtype())) return true;
  const Tensor numbers = raw::contiguous(x);
  return dispatch_float("detect_anomaly", x.dtype(),
                        [&]<class T>() { return kernels::all_finite(numbers.numel(), numbers.data<T>()); });
}

}  // namespace isobar
