// Tape: a scope that records. While a tape is alive on this thread, every op on tensors that need gradients
// appends a node. backward() goes through the nodes in reverse order and adds a gradient to every trainable
// leaf.
//
//   Tape tape;                                   // recording starts here
//   Tensor loss = mean(square(matmul(x, w)));
//   tape.backward(loss);                         // w.grad() is set; each node is freed after its use
//
// The order of recording is a topological order, so the backward pass is a loop, without search or recursion.
// It visits the nodes on which the loss depends, and frees each one after its use. Losses that share no node
// can be processed in any order. Tapes can be nested, and may end in any order. For an inner tape the tensors
// of the outer tape are leaves: gradient() returns their gradients, and a backward() that would lose one
// throws Error. A tape belongs to the thread that made it. Another thread may only destroy it, while the
// first one opens and closes no tape.
//
// Work of other threads is not recorded here. So an op throws Error for a tensor that is recorded on a tape
// of another thread and, while a tape is active, for one that another thread computed without a tape from
// trainable tensors. (Under NoTape, with no tape active, neither is checked.) Record on a tape of that
// thread, call leaf_gradients() there and add the gradients, as backward_in_pieces() of nn/pieces.h does; or
// detach() a tensor that is meant to be a constant.
#pragma once

#include <functional>
#include <initializer_list>
#include <optional>
#include <unordered_map>
#include <utility>

#include "../core/object_memory.h"
#include "../core/raw.h"
#include "../core/rng.h"
#include "recording.h"

namespace isobar {

// The inputs of a node that need a gradient. A closure can skip the others.
class Wants {
 public:
  void set(size_t input) { bits_ |= input < 64 ? uint64_t{1} << input : 0; }
  // Whether this input needs a gradient; always true from the 65th input on.
  bool operator[](size_t input) const { return input >= 64 || (bits_ >> input & 1) != 0; }

 private:
  uint64_t bits_ = 0;
};

// A vector that is filled and freed in every step; its memory is cached.
template <class T>
using TapeVector = std::vector<T, ObjectAllocator<T>>;

// "linear in blocks.3.fc1", for errors.
std::string place_of(std::string_view op, std::string_view module);

// One recorded op.
struct Node {
  struct Input {
    static constexpr int64_t constant = -1, absent = -2;  // absent: an undefined tensor, as a missing bias
    int64_t slot;                                         // on the tape, or one of these
    Shape shape;
    // The version of the storage when the op read it. The backward pass throws Error if it has changed.
    const Version* version;
    uint64_t stamp;
    const void* id;  // of the tensor, which may be gone
  };

  // The category of the op, from which op_costs.h computes its least cost. A plain op reads its inputs and
  // writes its result.
  enum class Kind : uint8_t { plain, product, product_loss, convolution, attention, view, lookup };

  const char* name = "";
  Kind kind = Kind::plain;
  int64_t slot = -1;                   // on the tape; inputs of later nodes refer to it
  const std::string* scope = nullptr;  // the module that recorded it, or null
  Shape shape;                         // of the output
  Dtype dtype = Dtype::f32;
  const Version* version = nullptr;  // of the output, as for the inputs
  uint64_t stamp = 0;
  TapeVector<Input> inputs;

  virtual ~Node() = default;
  // Sets dx to the gradients of the inputs, given the gradient dy of the output. An undefined tensor means no
  // gradient.
  virtual void backward(Tensor dy, Wants wants, std::span<Tensor> dx) = 0;

  std::string place() const { return place_of(name, scope != nullptr ? *scope : ""); }
  [[noreturn]] void wrong_count(size_t got, size_t wanted) const;

  static void* operator new(size_t bytes) { return object_memory::allocate(bytes); }
  static void operator delete(void* node, size_t bytes) { object_memory::release(node, bytes); }
};

// A node around a closure: dy → Tensor, for an op of one input, or dy → array or vector with one Tensor per
// input. The closure may take `Wants` as a second argument.
template <class Closure>
struct ClosureNode final : Node {
  explicit ClosureNode(Closure f) : closure(std::move(f)) {}

  auto gradients(Tensor dy, [[maybe_unused]] Wants wants) {
    if constexpr (std::is_invocable_v<Closure&, Tensor, Wants>)
      return closure(std::move(dy), wants);
    else
      return closure(std::move(dy));
  }
  void backward(Tensor dy, Wants wants, std::span<Tensor> dx) override {
    auto result = gradients(std::move(dy), wants);
    std::span<Tensor> all;
    if constexpr (std::is_same_v<decltype(result), Tensor>)
      all = std::span(&result, 1);
    else
      all = result;
    if (all.size() != dx.size()) [[unlikely]]
      wrong_count(all.size(), dx.size());
    std::move(all.begin(), all.end(), dx.begin());
  }

  Closure closure;
};

struct TapeOptions {
  // Keeps the nodes and records the backward pass too, so that gradient() can be applied to its own result
  // (PyTorch's create_graph). Fused ops then run as their composed forms.
  bool higher_order = false;
  // Throws NotFinite at the first op, forward or backward, whose result is not finite.
  bool detect_anomaly = false;
  // Draws the masks of dropout. Pass another one to each tape: `.rng = rng.split(step)`, and with
  // micro-batches `.rng = rng.split(step).split(micro_batch)`.
  std::optional<Rng> rng = std::nullopt;
  // Allows this tape to repeat the masks of an earlier one. Otherwise backward() and gradient() throw Error
  // if a random op used a key that the first or the latest earlier step of the same weights used; see
  // check_draws().
  bool again = false;
};

// The keys with which the random ops of a step drew, and the modules that drew.
struct DrawnKeys {
  struct Draw {
    uint64_t key;
    const std::string* scope;
  };
  TapeVector<Draw> draws;
};

// The targets that cross-entropies were given, how many of these were not ignored, and the number of
// cross-entropies.
struct TargetCount {
  int64_t given = 0, counted = 0, losses = 0;
};

// A leaf and its gradient, as Tape::leaf_gradients() returns them.
struct LeafGradient {
  Tensor leaf, gradient;
};

class Tape {
 public:
  explicit Tape(TapeOptions options = {});
  ~Tape();
  Tape(const Tape&) = delete;

  // Returns the innermost tape of this thread that records, or null.
  static Tape* active() {
    Tape* const tape = recording.tape;
    return tape != nullptr && tape->serial_ > recording.paused_through ? tape : nullptr;
  }

  // Adds d (Σ dy · y) / d leaf to grad() of every trainable leaf, and frees each node after its use. dy has
  // the shape and dtype of y; a loss, which is a single number, needs none. Throws Error, and changes no
  // gradient, if y was not recorded here; if it needs a node that an earlier backward pass has used, or a
  // value that was overwritten after it was recorded; if a closure returns a gradient of a wrong shape; if a
  // value of an outer tape that records would get a gradient; and for a leaf that still has a gradient from
  // before an optimizer's step on this thread, because neither fields() of a model nor an optimizer lists it.
  void backward(const Tensor& y, const Tensor& dy = {});
  // Returns what backward() would add to grad() of each trainable leaf on which y depends, in the order of
  // first use. grad() does not change.
  std::vector<LeafGradient> leaf_gradients(const Tensor& y, const Tensor& dy);
  // Returns d (Σ dy · y) / d x for each x, which need not be a leaf; zeros if y does not depend on it. grad()
  // does not change. An undefined dy means ones. On a higher-order tape the result is recorded here. Throws
  // Error if this is not active(), the innermost tape that records, and for an x that is a constant: it is not
  // trainable and was not recorded, or an op read it before it was trainable.
  std::vector<Tensor> gradient(const Tensor& y, const std::vector<Tensor>& xs, const Tensor& dy = {});

  const TapeOptions& options() const { return options_; }
  // The number of the tape, which no other tape ever has.
  uint64_t serial() const { return serial_; }
  // The number of ops that were recorded so far.
  size_t recorded() const { return recorded_; }
  // The nodes that are not freed yet.
  std::vector<const Node*> nodes() const;
  // The trainable tensors, and tensors of outer tapes, that were used, in the order of first use.
  std::vector<Tensor> leaves() const;
  // Returns an Rng for a random op: a function of TapeOptions::rng, the path of the module, and the number of
  // earlier calls on that path. Throws Error without TapeOptions::rng.
  Rng next_rng();
  // Records that a random op draws with this key. next_rng() calls it.
  void note_draw(uint64_t key);
  // Returns the keys of random ops since the last call, for check_draws(); none with TapeOptions::again.
  DrawnKeys take_draws() { return std::exchange(drawn_, {}); }
  // Records the numbers of targets of a cross-entropy, whose result is `loss`, for nn/pieces.h.
  void note_targets(const Tensor& loss, const TargetCount& targets);
  // Returns the numbers of targets of the cross-entropies on which y depends, by nodes that are not freed
  // yet.
  TargetCount targets_of(const Tensor& y) const;
  // The slot of the next op.
  int64_t next_slot() const { return first_ + static_cast<int64_t>(slots_.size()); }
  // Whether y was recorded here in slot `first` or later.
  bool holds(const Tensor& y, int64_t first) const {
    return raw::slot(y).tape == serial_ && raw::slot(y).index >= first;
  }
  // Whether an op on x is recorded here. Throws Error, naming `op`, if x was computed on a tape that has
  // ended. (If a backward pass has freed the node of x on this tape, the next one that needs it throws.)
  bool needs_gradient(const Tensor& x, const char* op = "tape") const {
    return x.defined() && (raw::slot(x).tape == serial_ || x.trainable() || is_outer(x, op));
  }

  // For record().
  void append(std::unique_ptr<Node> node, const Tensor& y, std::span<const Tensor* const> inputs);

 private:
  struct Slot {
    std::unique_ptr<Node> node;  // null for leaves, and once used
    Dtype dtype = Dtype::f32;
    bool leaf = false;
  };
  struct Leaf {
    Tensor tensor;
    int64_t slot;
  };
  Slot& at(int64_t slot) { return slots_[slot - first_]; }
  bool is_outer(const Tensor& x, const char* op) const;
  int64_t slot_of(const Tensor& x);
  void add_leaf_slot(Dtype dtype);
  int64_t own_slot(const Tensor& y, const char* what);
  std::vector<LeafGradient> walk_to_leaves(const Tensor& y, const Tensor& dy);
  void walk(int64_t start, Tensor dy, std::span<const int64_t> wanted, std::span<Tensor> sums);
  Tensor checked_gradient(const Node& node, size_t input, Tensor dx);
  void each_reached(int64_t start, const std::function<void(const Node&)>& visit) const;
  void check_no_constants(int64_t start, const std::vector<Tensor>& xs) const;
  std::vector<std::pair<const void*, std::string>> left_gradients() const;
  void check_result(const Node& node, const Tensor& y) const;
  void check_own_draws();
  void forget_used_slots();
  void drop_dead_nodes();

  friend struct ThreadEnd;
  const TapeOptions options_;
  const uint64_t serial_;
  Recording* home_ = &recording;  // of the thread that made this tape; null once that has ended
  Tape* outer_;                   // its tensors are leaves here
  TapeVector<Slot> slots_;
  int64_t first_ = 0;    // number of slots_[0]; earlier slots are used up
  size_t held_ = 0;      // nodes in slots_
  size_t kept_ = 0;      // slots after the last drop_dead_nodes(), and
  bool walked_ = false;  // whether there was a walk since
  TapeVector<Leaf> leaves_;
  // By the identity of their tensors: leaves carry no slot.
  std::unordered_map<const void*, int64_t, std::hash<const void*>, std::equal_to<>,
                     ObjectAllocator<std::pair<const void* const, int64_t>>>
      leaf_slots_;
  std::unordered_map<std::string, uint64_t> rngs_taken_;
  DrawnKeys drawn_;
  TapeVector<std::pair<int64_t, TargetCount>> targets_;  // by the slots of the losses, in ascending order
  size_t recorded_ = 0;
  bool walking_ = false;
};

// Called at the end of a backward pass with the keys that its random ops used. Each leaf stores the keys of
// its first and of its last step. Throws Error if one of the keys is stored already. So a key that all steps
// share is found in the second step, and keys that repeat, such as those of the batches of an epoch, at the
// first repetition. load_state() of nn/model.h forgets them.
void check_draws(DrawnKeys keys, std::span<const Tensor> leaves);
void forget_draws(const Tensor& leaf);

// Returns the age of the leaf's gradient after a backward pass has added to it: the age of its first part. If
// an optimizer made a step on this thread since then and did not use that part, which is not zero, the sum is
// across steps, and an optimizer that has the leaf throws Error. Otherwise the leaf would move by both
// gradients, as when the loss of a generator reaches its discriminator.
GradientAge age_of_sum(const Tensor& leaf);

// Whether the active tape has .higher_order: a fused op then returns its composed form.
bool composed_wanted();

// The error that detect_anomaly throws for NaN or infinity.
class NotFinite : public Error {
 public:
  using Error::Error;
};

// Whether x has neither NaN nor infinity.
bool all_finite(const Tensor& x);

// Returns a tensor for a gradient of the shape and dtype of dy: dy itself if it has no other owner, otherwise
// a new tensor. It is for closures that take dy by value.
Tensor room_for_gradient(const Tensor& dy);

// The name of an op, of which nodes store the address: a string literal, or a text that Scope::intern() made.
// It may also have the category of the op, as in record({"matmul", Node::Kind::product}, …).
class OpName {
 public:
  using Kind = Node::Kind;
  consteval OpName(const char* literal, Kind kind = Kind::plain) : text_(literal), kind_(kind) {}
  OpName(ScopeName name, Kind kind = Kind::plain) : text_(name->c_str()), kind_(kind) {}
  operator const char*() const { return text_; }
  operator std::string_view() const { return text_; }
  const char* text() const { return text_; }
  Kind kind() const { return kind_; }

 private:
  const char* text_;
  Kind kind_;
};

}  // namespace isobar

template <>
struct fmt::formatter<isobar::OpName> : isobar::TextFormatter {};

namespace isobar {

// The inputs of an op: a braced list of tensors, or a vector of pointers to them. An undefined tensor, such
// as an absent bias, is allowed.
struct OpInputs : std::span<const Tensor* const> {
  struct Reference {
    Reference(const Tensor& tensor) : pointer(&tensor) {}
    const Tensor* pointer;
  };
  OpInputs(std::initializer_list<Reference> list) : span(&list.begin()->pointer, list.size()) {
    static_assert(sizeof(Reference) == sizeof(const Tensor*));  // so that the list is an array of pointers
  }
  OpInputs(const std::vector<const Tensor*>& pointers) : span(pointers) {}
};

// For record(): whether an input is trainable, or was computed from trainable tensors.
inline bool any_trainable(std::span<const Tensor* const> inputs) {
  for (const Tensor* x : inputs)
    if (x->defined() && (x->trainable() || raw::slot(*x).tape != 0)) return true;
  return false;
}
// Returns the mark of another thread on x, or 0, for an op that no tape of this thread records. Throws Error,
// naming `op`, if x is recorded on a living tape of another thread.
uint64_t foreign_mark(const char* op, const Tensor& x);
// Gives y, which was computed without a tape from trainable tensors, the mark of this thread (recording.h).
void mark_constant(const char* op, const Tensor& y, std::span<const Tensor* const> inputs);

// Records an op. It is the last call of every op, after y = op(inputs) was computed; `closure` maps dy to the
// gradients of the inputs. The inputs are all tensors whose values the closure reads, with constants such as
// masks and indices: the backward pass throws Error if one was overwritten. Without an active tape, or if no
// input needs a gradient, y is returned as a constant. The tape sums the gradient of an input that was
// broadcast. Throws Error if an input belongs to a tape that has ended or to another thread, and if y is one
// of the inputs, is trainable, or was recorded before. With detect_anomaly it throws NotFinite if y is not
// finite.
template <class Closure>
Tensor record(OpName name, Tensor y, const OpInputs& inputs, Closure&& closure) {
  Tape* const tape = Tape::active();
  if (tape != nullptr && tape->options().detect_anomaly && !all_finite(y))
    throw NotFinite(fmt::format("{}: the result {} is not finite", name, y.shape()));
  bool needed = false;
  if (tape != nullptr)
    for (const Tensor* x : inputs) needed |= tape->needs_gradient(*x, name);
  if (!needed) {
    if (!recording.unmarked && any_trainable(inputs)) mark_constant(name, y, inputs);
    return y;
  }
  auto node = std::make_unique<ClosureNode<std::decay_t<Closure>>>(std::forward<Closure>(closure));
  node->name = name;
  node->kind = name.kind();
  tape->append(std::move(node), y, inputs);
  return y;
}

}  // namespace isobar
