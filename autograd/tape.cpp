#include "tape.h"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "../core/kernels/map.h"
#include "ops.h"
#include "scope.h"
#include "tape_log.h"

namespace isobar {
namespace {

thread_local Tape* active_tape = nullptr;
std::atomic<uint64_t> last_serial{0};

std::string place_of(const Node& node) {
  return node.scope != nullptr && !node.scope->empty() ? fmt::format("{} in {}", node.name, *node.scope)
                                                       : node.name;
}

// A gradient may have the shape that its input was broadcast to, and is then summed; nothing else.
void check_sums_to(const Node& node, size_t input, const Shape& got, const Shape& wanted) {
  bool sums = got.ndim() >= wanted.ndim();
  for (int d = 1; sums && d <= wanted.ndim(); ++d) sums = wanted[-d] == got[-d] || wanted[-d] == 1;
  if (sums) return;
  const bool turned = std::is_permutation(got.begin(), got.end(), wanted.begin(), wanted.end());
  check(false, "backward of {}: the gradient of input {} must be {}, got {}{}", place_of(node), input, wanted,
        got,
        turned                         ? "; is it transposed?"
        : got.numel() < wanted.numel() ? "; spread it over the input with broadcast_to()"
                                       : "");
}

bool finite(const Tensor& x) {
  if (!is_float(x.dtype())) return true;
  const Tensor packed = x.packed();
  return dispatch_float("check_numbers", x.dtype(),
                        [&]<class T>() { return kernels::all_finite(packed.numel(), packed.data<T>()); });
}

}  // namespace

Tape::Tape(TapeOptions options)
    : options_(std::move(options)), serial_(++last_serial), outer_(active_tape), before_(active_tape) {
  check(outer_ == nullptr || (!options_.higher_order && !outer_->options_.higher_order),
        "tape: a higher-order tape cannot be nested (the inner tape would see the outer one's tensors as "
        "constants); take both gradients on one tape");
  active_tape = this;
}

Tape::Tape(Tape& outer, Pass pass, std::vector<Rng>& keys)
    : options_{.check_numbers = outer.options_.check_numbers},
      serial_(++last_serial),
      outer_(&outer),
      before_(active_tape),
      pass_(pass),
      keys_(&keys) {
  active_tape = this;
}

Tape::~Tape() {
  // From last to first, so that a node's storages go back to the allocator in the order it handed them out.
  while (!slots_.empty()) slots_.pop_back();
  active_tape = before_;
}

Tape* Tape::active() { return active_tape; }

bool Tape::tracks(const Tensor& x) { return x.defined() && slot_of(x) >= 0; }

// The slot of x on this tape, made on first use for leaves; -1 for a constant.
int64_t Tape::slot_of(const Tensor& x) {
  const TapeSlot slot = x.slot();
  if (slot.tape == serial_) return slot.index;
  if (!x.trainable()) {
    if (slot.tape == 0) return -1;
    bool outer_lives = false;
    for (const Tape* tape = outer_; tape != nullptr; tape = tape->outer_)
      outer_lives |= tape->serial_ == slot.tape;
    check(outer_lives,
          "backward: a tensor {} belongs to a tape that has ended; call detach() or keep one tape",
          x.shape());
  }
  const auto [entry, fresh] = leaf_slots_.try_emplace(x.id(), static_cast<int64_t>(slots_.size()));
  if (fresh) slots_.push_back({nullptr, x});
  // A parameter remembers the tape that used it last; a tensor of an outer tape must keep its place there.
  if (x.trainable() && outer_ == nullptr) x.set_slot({serial_, static_cast<uint32_t>(entry->second)});
  return entry->second;
}

void Tape::append(std::unique_ptr<Node> node, const Tensor& y, std::span<const Tensor* const> inputs) {
  node->slot = static_cast<int64_t>(slots_.size());
  node->scope = Scope::current();
  node->shape = y.shape();
  node->dtype = y.dtype();
  node->inputs.reserve(inputs.size());
  for (const Tensor* x : inputs)
    node->inputs.push_back(x->defined() ? Node::Input{slot_of(*x), x->shape()} : Node::Input{-2, Shape()});
#ifndef NDEBUG
  for (const Tensor* x : inputs)
    if (x->defined()) node->saved.push_back({x->storage(), x->storage()->version});
  node->saved.push_back({y.storage(), y.storage()->version});
#endif
  check(slots_.size() < UINT32_MAX, "tape: more than 2^32 ops recorded on one tape");
  y.set_slot({serial_, static_cast<uint32_t>(slots_.size())});
  slots_.push_back({pass_ == Pass::first ? nullptr : std::move(node), Tensor()});
  ++recorded_;
  TapeLog* const log = TapeLog::current();
  if (log != nullptr && slots_.back().node) log->on_record(serial_, *slots_.back().node, y, inputs);
}

int64_t Tape::own_slot(const Tensor& y, const char* what) {
  check(y.defined(), "{}: the tensor is undefined", what);
  if (y.trainable()) return slot_of(y);  // a leaf's gradient by itself is dy
  check(y.slot().tape == serial_,
        "{}: a tensor {} was not recorded on this tape; no input of it is trainable, or it was made before "
        "the tape or after detach()",
        what, y.shape());
  return y.slot().index;
}

void Tape::backward(const Tensor& loss) {
  check(loss.defined(),
        "backward: loss must be a single number, got an undefined tensor; give it a value first");
  check(loss.numel() == 1, "backward: loss must be a single number, got {}; did you mean mean(loss)?",
        loss.shape());
  backward(loss, ones(loss.shape(), loss.dtype()));
}

void Tape::backward(const Tensor& y, const Tensor& dy) {
  const int64_t start = own_slot(y, "backward");
  check(dy.shape() == y.shape() && dy.dtype() == y.dtype(), "backward: dy must be {} {}, got {} {}",
        y.shape(), y.dtype(), dy.shape(), dy.dtype());
  NoTape pause;
  std::vector<int64_t> trainable;
  for (size_t i = 0; i < slots_.size(); ++i)
    if (slots_[i].leaf.defined() && slots_[i].leaf.trainable()) trainable.push_back(static_cast<int64_t>(i));
  std::vector<Tensor> gradients(trainable.size());
  walk(start, dy, trainable, gradients);
  for (size_t i = 0; i < trainable.size(); ++i) {
    if (!gradients[i].defined()) continue;
    const Tensor& leaf = slots_[trainable[i]].leaf;
    Tensor sum = leaf.grad();
    leaf.clear_grad();
    accumulate(sum, std::move(gradients[i]));
    leaf.set_grad(std::move(sum));
  }
}

std::vector<Tensor> Tape::gradient(const Tensor& y, const std::vector<Tensor>& xs, const Tensor& dy) {
  check(active_tape == this, "gradient: this tape is not the active one");
  const int64_t start = own_slot(y, "gradient");
  std::vector<int64_t> wanted;
  for (const Tensor& x : xs) wanted.push_back(tracks(x) ? slot_of(x) : own_slot(x, "gradient"));
  const Tensor seed = dy.defined() ? dy : ones(y.shape(), y.dtype());
  std::optional<NoTape> pause;
  if (!options_.higher_order) pause.emplace();
  std::vector<Tensor> gradients(wanted.size());
  walk(start, seed, wanted, gradients);
  for (size_t i = 0; i < xs.size(); ++i)
    if (!gradients[i].defined()) gradients[i] = zeros(xs[i].shape(), xs[i].dtype());
  return gradients;
}

// Runs the nodes from `start` down. `sums` holds what the adjoints of the wanted slots begin with (undefined:
// nothing), and in the end these adjoints.
void Tape::walk(int64_t start, Tensor dy, std::span<const int64_t> wanted, std::span<Tensor> sums) {
  TapeVector<Tensor> adjoints(start + 1);
  TapeVector<char> keep(start + 1);
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i] > start) continue;
    keep[wanted[i]] = true;
    if (sums[i].defined()) adjoints[wanted[i]] = std::move(sums[i]);
  }
  accumulate(adjoints[start], std::move(dy));
  for (int64_t i = start; i >= 0; --i) {
    if (slots_[i].leaf.defined()) continue;
    if (adjoints[i].defined()) {
      Node* node = slots_[i].node.get();
      check(node != nullptr,
            "backward: part of this tape was already used up by an earlier backward; open it as "
            "Tape tape({{.higher_order = true}}) to walk twice");
      Tensor mine = keep[i] ? adjoints[i] : std::move(adjoints[i]);
      adjoints[i] = keep[i] ? mine : Tensor();
      run_node(*node, std::move(mine), adjoints);
    }
    if (!options_.higher_order) slots_[i].node.reset();
  }
  for (size_t i = 0; i < wanted.size(); ++i)
    if (wanted[i] <= start) sums[i] = adjoints[wanted[i]];
}

// One step of the walk: the node's closure, then each input's gradient summed back to the input's shape and
// moved into, or added to, that input's adjoint.
void Tape::run_node(Node& node, Tensor dy, TapeVector<Tensor>& adjoints) {
#ifndef NDEBUG
  for (const Node::Saved& saved : node.saved)
    if (const auto storage = saved.storage.lock())
      check(storage->version == saved.version,
            "backward: a value that {} needs was overwritten after it was recorded; call backward before "
            "step()",
            place_of(node));
#endif
  Wants wants;
  for (size_t i = 0; i < node.inputs.size(); ++i)
    if (node.inputs[i].slot >= 0) wants.set(i);
  std::array<Tensor, 8> few;
  std::vector<Tensor> many(node.inputs.size() > few.size() ? node.inputs.size() : 0);
  const std::span<Tensor> dx = many.empty() ? std::span<Tensor>(few.data(), node.inputs.size()) : many;
  TapeLog* const log = TapeLog::current();
  if (log != nullptr) log->on_backward(node, dy);
  if (node.continues_sums()) {
    for (size_t i = 0; i < dx.size(); ++i) dx[i] = std::move(adjoints[node.inputs[i].slot]);
    node.backward(std::move(dy), wants, dx);
    if (log != nullptr) log->on_gradients(serial_, node, dx);
    for (size_t i = 0; i < dx.size(); ++i) adjoints[node.inputs[i].slot] = std::move(dx[i]);
    return;
  }
  node.backward(std::move(dy), wants, dx);
  if (log != nullptr) log->on_gradients(serial_, node, dx);
  for (size_t i = 0; i < dx.size(); ++i) {
    const auto& [slot, shape] = node.inputs[i];
    if (slot < 0 || !dx[i].defined()) continue;
    if (dx[i].shape() != shape) {
      check_sums_to(node, i, dx[i].shape(), shape);
      dx[i] = sum_to(dx[i], shape);
    }
    if (options_.check_numbers && !finite(dx[i]))
      throw NotFinite(
          fmt::format("backward of {}: the gradient of input {} {} is not finite", place_of(node), i, shape));
    accumulate(adjoints[slot], std::move(dx[i]));
  }
}

// sum += dx, in place where nobody else can see the sum.
void Tape::accumulate(Tensor& sum, Tensor dx) const {
  if (!sum.defined()) {
    sum = std::move(dx);
    return;
  }
  check(sum.shape() == dx.shape() && sum.dtype() == dx.dtype(),
        "backward: gradients {} {} and {} {} do not add", sum.shape(), sum.dtype(), dx.shape(), dx.dtype());
  if (active_tape == nullptr && sum.sole_owner() && sum.contiguous()) {
    const Tensor packed = std::move(dx).packed();
    dispatch_float("backward", sum.dtype(),
                   [&]<class T>() { kernels::add_into(sum.numel(), packed.data<T>(), sum.write<T>()); });
  } else {
    sum = add(sum, dx);
  }
}

std::vector<const Node*> Tape::nodes() const {
  std::vector<const Node*> result;
  for (const Slot& slot : slots_)
    if (slot.node) result.push_back(slot.node.get());
  return result;
}

std::vector<Tensor> Tape::leaves() const {
  std::vector<Tensor> result;
  for (const Slot& slot : slots_)
    if (slot.leaf.defined()) result.push_back(slot.leaf);
  return result;
}

Rng Tape::next_key() {
  if (pass_ == Pass::first) return keys_->emplace_back(outer_->next_key());
  if (pass_ == Pass::second) {
    check(keys_drawn_ < keys_->size(), "recompute: the second pass draws more random masks than the first");
    return (*keys_)[keys_drawn_++];
  }
  check(options_.key.has_value(),
        "dropout: this tape has no key; open it as Tape tape({{.key = rng.split(step)}}) so that every step "
        "draws "
        "other masks, and the same ones again on the next run");
  const std::string path = Scope::current() != nullptr ? *Scope::current() : "";
  return options_.key->split(path).split(keys_taken_[path]++);
}

NoTape::NoTape() : paused_(std::exchange(active_tape, nullptr)) {}
NoTape::~NoTape() { active_tape = paused_; }

bool composed_wanted() { return active_tape != nullptr && active_tape->options().higher_order; }

Tensor room_for_gradient(const Tensor& dy) {
  return active_tape == nullptr && dy.sole_owner() && dy.contiguous() ? dy : Tensor(dy.shape(), dy.dtype());
}

void check_numbers(const char* op, const Tensor& y) {
  if (!finite(y)) throw NotFinite(fmt::format("{}: the result {} is not finite", op, y.shape()));
}

}  // namespace isobar
