// The backward pass: computes gradients from the nodes of a tape.
#include <utility>

#include "../core/kernels/map.h"
#include "../core/steps.h"
#include "ops.h"
#include "tape_listener.h"

namespace isobar {
namespace {

constexpr const char* used_up =
    "{}: part of this tape was already used up by an earlier backward; open it as Tape tape({{.higher_order = "
    "true}}) to walk twice";

// A gradient has its input's shape, or a larger one where the input was broadcast to the extents of y, and is
// then summed.
void check_sums_to(const Node& node, size_t input, Dtype dtype, const Tensor& dx) {
  const Shape &got = dx.shape(), &wanted = node.inputs[input].shape, &y = node.shape;
  bool sums = got.ndim() >= wanted.ndim();
  for (int d = 1; sums && d <= got.ndim(); ++d) {
    const int64_t own = d <= wanted.ndim() ? wanted[-d] : 1;
    sums = got[-d] == own || (own == 1 && d <= y.ndim() && got[-d] == y[-d]);
  }
  if (sums && dx.dtype() == dtype) return;
  const bool turned = std::is_permutation(got.begin(), got.end(), wanted.begin(), wanted.end());
  check(sums, "backward of {}: the gradient of input {} must be {}, got {}{}", node.place(), input, wanted,
        got,
        turned                         ? "; is it transposed?"
        : got.numel() < wanted.numel() ? "; spread it over the input with broadcast_to()"
        : got.numel() > wanted.numel() ? "; sum it with sum_to_size()"
                                       : "");
  check(dx.dtype() == dtype, "backward of {}: the gradient of input {} must be {}, got {}", node.place(),
        input, dtype, dx.dtype());
}

// Throws if a block that the op read or wrote has been overwritten since.
void check_one(const Node& node, const Version& version, uint64_t stamp, const auto& name_of_value) {
  if (!version.overwritten_since(stamp)) [[likely]]
    return;
  const char* const writer = version.writer();
  throw_error(fmt::format(
      "backward: {} of {} was overwritten{}{} after it was recorded; call backward before step()",
      name_of_value(), node.place(), writer != nullptr ? " by " : "", writer != nullptr ? writer : ""));
}

void check_unchanged(const Node& node) {
  for (const Node::Input& input : node.inputs)
    if (input.version != nullptr)
      check_one(node, *input.version, input.stamp,
                [&] { return fmt::format("input {} {}", &input - node.inputs.data(), input.shape); });
  check_one(node, *node.version, node.stamp, [&] { return fmt::format("the result {}", node.shape); });
}

// sum += dx, in place if `sum` has no other owner.
void add_to(Tensor& sum, Tensor dx) {
  if (!sum.defined()) {
    sum = std::move(dx);
    return;
  }
  check(sum.shape() == dx.shape() && sum.dtype() == dx.dtype(),
        "backward: gradients {} {} and {} {} do not add", sum.shape(), sum.dtype(), dx.shape(), dx.dtype());
  if (Tape::active() != nullptr || !raw::sole_owner(sum) || !sum.is_contiguous()) {
    sum = add(sum, dx);
    return;
  }
  dx = raw::contiguous(std::move(dx));
  dispatch_float("backward", sum.dtype(),
                 [&]<class T>() { kernels::add_into(sum.numel(), dx.data<T>(), raw::write<T>(sum)); });
}

// Sets a flag in a block of code, and clears it at the end, also after an exception. Notifies the listener of
// this thread of both.
struct InBackward {
  explicit InBackward(bool& flag) : set(flag) {
    set = true;
    if (listener != nullptr) listener->backward_begins();
  }
  ~InBackward() {
    set = false;
    if (listener != nullptr && listener == recording.listener) listener->backward_ends();
  }
  bool& set;
  TapeListener* const listener = recording.listener;
};

// Calls the backward of a node, and notifies the listener of this thread.
void run(uint64_t tape, Node& node, Tensor dy, Wants wants, std::span<Tensor> dx) {
  TapeListener* const listener = recording.listener;
  if (listener != nullptr) listener->walking(tape, node, dy);
  node.backward(std::move(dy), wants, dx);
  if (listener != nullptr && listener == recording.listener) listener->walked(tape, node, dx);
}

// Whether an optimizer made a step on this thread without using the leaf's gradient, which is not zero.
bool left_by_step(const Tensor& leaf) {
  return leaf.grad().defined() && raw::gradient_age(leaf).step_before < steps::last_here() &&
         norm_of(leaf.grad()) != 0;
}

// Throws Error for a gradient of y that is not of y's shape and dtype: kernels would read past its end.
void check_gradient_of(const Tensor& y, const Tensor& dy, const char* what) {
  check(dy.shape() == y.shape() && dy.dtype() == y.dtype(), "{}: dy must be {} {}, got {} {}", what,
        y.shape(), y.dtype(), dy.shape(), dy.dtype());
}

}  // namespace

GradientAge age_of_sum(const Tensor& leaf) {
  const GradientAge now{steps::taken()};
  if (!leaf.grad().defined()) return now;
  const GradientAge age = raw::gradient_age(leaf);
  if (age.across_steps || age.step_before >= steps::last_here()) return age;
  return left_by_step(leaf) ? GradientAge{age.step_before, true} : now;
}

int64_t Tape::own_slot(const Tensor& y, const char* what) {
  check(y.defined(), "{}: the tensor is undefined", what);
  check(home_ == &recording, "{}: this tape was made on another thread; walk it on the thread that made it",
        what);
  if (y.trainable()) return slot_of(y);  // a leaf's gradient by itself is dy
  const TapeSlot slot = raw::slot(y);
  if (slot.marked()) is_outer(y, what);  // refuses that of another thread
  check(slot.tape == serial_,
        "{}: a tensor {} was not recorded on this tape; no input of it is trainable, or it was made before "
        "the tape or after detach()",
        what, y.shape());
  check(slot.index >= first_, used_up, what);
  return slot.index;
}

// Does not change the slots: forget_used_slots() removes leaves without other owners.
std::vector<LeafGradient> Tape::walk_to_leaves(const Tensor& y, const Tensor& dy) {
  const int64_t start = own_slot(y, "backward");
  check_gradient_of(y, dy, "backward");
  std::vector<LeafGradient> found;
  std::vector<Tensor> outside;  // values of outer tapes that are not paused
  std::vector<int64_t> slots;   // of both
  found.reserve(leaves_.size()), slots.reserve(leaves_.size());
  for (const Leaf& leaf : leaves_)
    if (leaf.tensor.trainable()) found.push_back({leaf.tensor, {}}), slots.push_back(leaf.slot);
  for (const Leaf& leaf : leaves_)
    if (raw::slot(leaf.tensor).recorded() && raw::slot(leaf.tensor).tape > recording.paused_through)
      outside.push_back(leaf.tensor), slots.push_back(leaf.slot);
  const NoTape pause;
  std::vector<Tensor> gradients(slots.size());
  walk(start, dy, slots, gradients);
  for (size_t i = 0; i < outside.size(); ++i)
    check(
        !gradients[found.size() + i].defined(),
        "backward: a tensor {} is recorded on an outer tape, where this backward does not continue, so its gradient "
        "would be lost; call backward on the outer tape, take gradient() by it here, or detach() it if it is meant to "
        "be a constant",
        outside[i].shape());
  for (size_t i = 0; i < found.size(); ++i) found[i].gradient = std::move(gradients[i]);
  std::erase_if(found, [](const LeafGradient& of) { return !of.gradient.defined(); });
  // Each leaf gets a copy: one tensor may be the gradient of two leaves, as from a + b, or a view.
  for (LeafGradient& of : found)
    if (!raw::sole_owner(of.gradient) || !of.gradient.is_contiguous()) of.gradient = raw::clone(of.gradient);
  return found;
}

// Returns the trainable tensors whose gradients no step uses, each with the first op that read it: no model
// and no optimizer lists them, and an optimizer made a step on this thread since their gradients were set.
std::vector<std::pair<const void*, std::string>> Tape::left_gradients() const {
  std::vector<std::pair<const void*, std::string>> left;
  for (const Leaf& leaf : leaves_) {
    const Tensor& x = leaf.tensor;
    if (!x.trainable() || raw::listed(x) || !left_by_step(x)) continue;
    std::string& reader = left.emplace_back(x.id(), "").second;
    const auto reads = [&](const Node::Input& input) { return input.id == x.id(); };
    for (const Slot& slot : slots_)
      if (reader.empty() && slot.node && std::ranges::any_of(slot.node->inputs, reads))
        reader = ", which " + slot.node->place() + " reads,";
  }
  return left;
}

void Tape::backward(const Tensor& y, const Tensor& dy) {
  if (!dy.defined()) {
    check(y.defined(),
          "backward: loss must be a single number, got an undefined tensor; give it a value first");
    check(y.numel() == 1, "backward: loss must be a single number, got {}; did you mean mean(loss)?",
          y.shape());
  }
  const auto left = left_gradients();
  std::vector<LeafGradient> found = walk_to_leaves(y, dy.defined() ? dy : ones(y.shape(), y.dtype()));
  for (const LeafGradient& of : found)
    for (const auto& [id, reader] : left)
      check(
          id != of.leaf.id(),
          "backward: a trainable tensor {}{} has its gradient of an earlier step: no fields() lists it and no optimizer "
          "has it, so that it is never trained; list it in fields(), or call set_trainable(false) or clear_grad()",
          of.leaf.shape(), reader);
  check_own_draws();
  for (LeafGradient& of : found) {
    const NoTape pause;
    Tensor sum = of.leaf.grad();
    const GradientAge age = age_of_sum(of.leaf);
    of.leaf.clear_grad();
    add_to(sum, std::move(of.gradient));
    of.leaf.set_grad(std::move(sum));
    raw::gradient_age(of.leaf) = age;
  }
  forget_used_slots();
}

// Called before forget_used_slots(), which removes leaves.
void Tape::check_own_draws() {
  if (drawn_.draws.empty()) return;
  std::vector<Tensor> trained = leaves();
  std::erase_if(trained, [](const Tensor& leaf) { return !leaf.trainable(); });
  check_draws(take_draws(), trained);
}

std::vector<LeafGradient> Tape::leaf_gradients(const Tensor& y, const Tensor& dy) {
  std::vector<LeafGradient> found = walk_to_leaves(y, dy);
  forget_used_slots();
  return found;
}

std::vector<Tensor> Tape::gradient(const Tensor& y, const std::vector<Tensor>& xs, const Tensor& dy) {
  check(active() == this, "gradient: this tape is not the active one");
  const int64_t start = own_slot(y, "gradient");
  std::vector<int64_t> wanted;
  for (const Tensor& x : xs) {
    wanted.push_back(needs_gradient(x) ? slot_of(x) : own_slot(x, "gradient"));
  }
  check_no_constants(start, xs);
  const Tensor seed = dy.defined() ? dy : ones(y.shape(), y.dtype());
  check_gradient_of(y, seed, "gradient");
  std::optional<NoTape> pause;
  if (!options_.higher_order) pause.emplace();
  std::vector<Tensor> gradients(wanted.size());
  walk(start, seed, wanted, gradients);
  for (size_t i = 0; i < xs.size(); ++i) {
    if (!gradients[i].defined()) gradients[i] = zeros(xs[i].shape(), xs[i].dtype());
    // A gradient that depends on nothing, as that of a linear function, is recorded with the slope 0 by its
    // x, so that gradient() can be applied to it as well.
    if (options_.higher_order && !needs_gradient(gradients[i], "gradient"))
      gradients[i] = record({"constant", Node::Kind::view}, gradients[i].detach(), {xs[i]},
                            [](const Tensor&) { return Tensor(); });
  }
  check_own_draws();
  forget_used_slots();
  return gradients;
}

// Throws if y, in slot `start`, depends on an op that read one of xs as a constant, before x was trainable:
// that part of the derivative would be missing.
void Tape::check_no_constants(int64_t start, const std::vector<Tensor>& xs) const {
  std::vector<std::pair<const void*, const Tensor*>> by_id;
  for (const Tensor& x : xs)
    if (x.defined() && x.trainable()) by_id.emplace_back(x.id(), &x);
  if (by_id.empty()) return;
  std::sort(by_id.begin(), by_id.end());
  const auto check_input = [&](const Node& node, const Node::Input& input) {
    const auto at = std::lower_bound(by_id.begin(), by_id.end(),
                                     std::pair<const void*, const Tensor*>(input.id, nullptr));
    if (at == by_id.end() || at->first != input.id) return;
    const Tensor& x = *at->second;
    // The tensor that the op read may be destroyed, and another one may have its address.
    check(input.version != raw::storage(x)->version || input.version->freed_since(input.stamp),
          "gradient: a tensor {} was a constant when {} used it; make it trainable before that", x.shape(),
          node.place());
  };
  each_reached(start, [&](const Node& node) {
    for (const Node::Input& input : node.inputs)
      if (input.slot == Node::Input::constant) check_input(node, input);
  });
}

// Calls visit(node), in reverse order, for the nodes that are not freed and on which the value in slot
// `start` depends.
void Tape::each_reached(int64_t start, const std::function<void(const Node&)>& visit) const {
  TapeVector<uint8_t> reached(start + 1 - first_);
  reached.back() = true;
  for (int64_t slot = start; slot >= first_; --slot) {
    const Node* const node = slots_[slot - first_].node.get();
    if (node == nullptr || !reached[slot - first_]) continue;
    visit(*node);
    for (const Node::Input& input : node->inputs)
      if (input.slot >= first_) reached[input.slot - first_] = true;
  }
}

void Tape::note_targets(const Tensor& loss, const TargetCount& targets) {
  if (holds(loss, first_)) targets_.emplace_back(raw::slot(loss).index, targets);
}

TargetCount Tape::targets_of(const Tensor& y) const {
  TargetCount all;
  if (targets_.empty() || !holds(y, first_)) return all;
  auto noted = targets_.rbegin();
  each_reached(raw::slot(y).index, [&](const Node& node) {
    while (noted != targets_.rend() && noted->first > node.slot) ++noted;
    for (; noted != targets_.rend() && noted->first == node.slot; ++noted) {
      all.given += noted->second.given;
      all.counted += noted->second.counted;
      all.losses += noted->second.losses;
    }
  });
  return all;
}

// Runs the backward pass: visits the nodes on which y, in slot `start`, depends, in reverse order. On return,
// `sums` has the gradients of the wanted slots (undefined: none).
void Tape::walk(int64_t start, Tensor dy, std::span<const int64_t> wanted, std::span<Tensor> sums) {
  check(!walking_, "backward: another backward of this tape is under way");
  const InBackward walking(walking_);
  TapeVector<Tensor> adjoints(start + 1 - first_);  // by slot: the gradients of all that was visited, added
  TapeVector<uint8_t> kept(adjoints.size());        // for the caller
  const auto adjoint = [&](int64_t slot) -> Tensor& { return adjoints[slot - first_]; };
  for (size_t i = 0; i < wanted.size(); ++i) {
    check(wanted[i] >= first_, used_up, "gradient");
    if (wanted[i] > start) continue;
    kept[wanted[i] - first_] = true;
  }
  add_to(adjoint(start), std::move(dy));
  TapeVector<Tensor> dx;  // of the node that is visited
  for (int64_t slot = start; slot >= first_; --slot) {
    if (!adjoint(slot).defined() || at(slot).leaf) continue;
    Node* const node = at(slot).node.get();
    check(node != nullptr, used_up, "backward");
    check_unchanged(*node);
    dx.resize(node->inputs.size());
    Wants wants;
    for (size_t i = 0; i < dx.size(); ++i) {
      const int64_t input = node->inputs[i].slot;
      if (input < 0) continue;
      check(input >= first_, used_up, "backward");
      wants.set(i);
    }
    run(serial_, *node, kept[slot - first_] ? adjoint(slot) : std::exchange(adjoint(slot), Tensor()), wants,
        dx);
    for (size_t i = 0; i < dx.size(); ++i)
      if (node->inputs[i].slot >= 0 && dx[i].defined())
        add_to(adjoint(node->inputs[i].slot), checked_gradient(*node, i, std::move(dx[i])));
    dx.clear();
    if (!options_.higher_order) at(slot).node.reset(), --held_;
  }
  for (size_t i = 0; i < wanted.size(); ++i)
    if (wanted[i] <= start) sums[i] = adjoint(wanted[i]);
}

// Returns the gradient of an input, summed to its shape.
Tensor Tape::checked_gradient(const Node& node, size_t input, Tensor dx) {
  const Shape& shape = node.inputs[input].shape;
  const Dtype dtype = at(node.inputs[input].slot).dtype;
  if (dx.shape() != shape || dx.dtype() != dtype) {
    check_sums_to(node, input, dtype, dx);
    dx = sum_to_size(dx, shape);
  }
  if (options_.detect_anomaly && !all_finite(dx))
    throw NotFinite(
        fmt::format("backward of {}: the gradient of input {} {} is not finite", node.place(), input, shape));
  return dx;
}

// Frees nodes that no backward pass can use any more. Otherwise ops on which the loss of a step did not
// depend would stay as long as the tape. Called before the first op after a backward pass, if the list has
// doubled.
void Tape::drop_dead_nodes() {
  const auto node_at = [&](int64_t slot) { return at(slot).node.get(); };
  const auto drop = [&](int64_t slot) { at(slot).node.reset(), --held_; };
  // From first to last: a walk would throw, because an input is used up, or something was overwritten.
  for (int64_t slot = first_; slot < next_slot(); ++slot) {
    const Node* const node = node_at(slot);
    if (node == nullptr) continue;
    const auto useless = [&](const Node::Input& input) {
      const bool gone =
          input.slot >= 0 && (input.slot < first_ || (!at(input.slot).leaf && !node_at(input.slot)));
      return gone || (input.version != nullptr && input.version->overwritten_since(input.stamp));
    };
    if (node->version->overwritten_since(node->stamp) ||
        std::any_of(node->inputs.begin(), node->inputs.end(), useless))
      drop(slot);
  }
  // From last to first: nobody has the result, whose memory is freed, and no later node reads it.
  std::vector<bool> read(slots_.size());
  for (int64_t slot = next_slot() - 1; slot >= first_; --slot) {
    const Node* const node = node_at(slot);
    if (node == nullptr) continue;
    if (!read[static_cast<size_t>(slot - first_)] && node->version->freed_since(node->stamp)) {
      drop(slot);
      continue;
    }
    for (const Node::Input& input : node->inputs)
      if (input.slot >= first_) read[static_cast<size_t>(input.slot - first_)] = true;
  }
  forget_used_slots();
  kept_ = slots_.size();
  walked_ = false;
}

// Empties the list of slots after all nodes were freed, so that each of many backward passes on one tape
// costs the same. Slot numbers are not reused.
void Tape::forget_used_slots() {
  if (walking_) return;
  walked_ = true;
  if (held_ > 0) return;
  first_ = next_slot();
  slots_.clear();
  targets_.clear();
  leaf_slots_.clear();
  // Drops leaves that only the tape still holds, such as a step's input that needs a gradient.
  std::erase_if(leaves_, [](const Leaf& leaf) { return raw::Access::handle(leaf.tensor).use_count() == 1; });
  for (Leaf& leaf : leaves_) {
    leaf.slot = leaf_slots_[leaf.tensor.id()] = next_slot();
    add_leaf_slot(leaf.tensor.dtype());
  }
}

}  // namespace isobar
