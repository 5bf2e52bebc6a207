#include "module.h"

#include "../autograd/tape_listener.h"
#include "../core/raw.h"
#include "model.h"
#include "observe.h"
#include "pieces.h"

namespace isobar {
namespace {

int64_t next_slot() { return Tape::active() != nullptr ? Tape::active()->next_slot() : 0; }

}  // namespace

Module::Module(Module&& other) noexcept { take(other); }

// Runs before the members of the class that derives from Module are assigned, so that these are the old ones.
Module& Module::operator=(Module&& other) noexcept {
  if (this == &other) return *this;
  mark_replaced();
  take(other);
  return *this;
}

// Tells optimizers that have tensors of this module that these are replaced.
void Module::mark_replaced() {
  if (!listed_.load(std::memory_order_relaxed)) return;
  struct Replaced : Fields {
    void mark(const Tensor& tensor) {
      if (tensor.defined()) raw::mark_replaced(tensor);
    }
    void on_parameter(std::string_view, Tensor& tensor) override { mark(tensor); }
    void on_buffer(std::string_view, Tensor& tensor) override { mark(tensor); }
    void on_part(std::string_view, HasFields& part) override { part.fields(*this); }
  } replaced;
  fields(replaced);
}

// Observers follow a module that moves.
void Module::take(Module& other) {
  if (observation_ != nullptr) observation_->module = nullptr;
  path_ = other.path_.load();
  naming_ = other.naming_.load();
  pieces_ = other.pieces_;
  training_ = other.training_;
  observation_ = std::exchange(other.observation_, nullptr);
  if (observation_ != nullptr) observation_->module = this;
  listed_ = other.listed_.exchange(false);
}

Module::~Module() {
  if (observation_ != nullptr) observation_->module = nullptr;
}

Tensor Module::forward(const Tensor& x) {
  throw_error(
      fmt::format("{}: no forward of one tensor is written for it; got x {}", type_name(), x.shape()));
}

// A module without a path that is called outside of any scope is the root of a model: it names those of its
// modules that have no path yet. Called in another module's scope, it takes that scope's name. On a tape from
// which masks may be drawn, a provisional path counts as none, but in an Evaluation, which changes no later
// mask.
ScopeName Module::scope_name() {
  if (recording.listener != nullptr) recording.listener->called();
  if (recording.pieces != 0 && recording.pieces != pieces_) check_outsider(*this);
  const Tape* const tape = Tape::active();
  const bool draws =
      tape != nullptr && tape->options().rng.has_value() && Evaluation::mode_of(*this) == nullptr;
  const auto named = [&] { return has_path() && (!draws || naming_ == Naming::lasting); };
  if (!named() && recording.scope == nullptr)
    assign_missing_paths(*this, "", draws ? Naming::lasting : Naming::provisional);
  return named() ? path_.load() : recording.scope;
}

// On a thread that helps to evaluate the module, results are intended as constants, as in the Evaluation
// itself.
Module::Call::Call(Module& module) : scope(module.scope_name()), first_slot(next_slot()) {
  if (recording.tape == nullptr && module.evaluations_.load(std::memory_order_relaxed) > 0)
    recording.unmarked = true;
}

// Notifies the observers of y. If there are observers, or if this call did not compute y (its input, a
// weight), y becomes an alias of itself with its own node. With the alias, gradients are added in the same
// order with and without observers, so observation does not change results. Observers are notified of the
// gradient if the module still exists then.
void Module::show(Tensor& y, const Call& call) {
  if (recording.listener != nullptr) recording.listener->called();
  if (!y.defined()) return;
  const Tape* const tape = Tape::active();
  if (!observed() && (tape == nullptr || tape->holds(y, call.first_slot))) return;
  const Tensor view = y.detach();
  if (!observed()) {
    y = record({"identity", Node::Kind::view}, view, {y}, [](Tensor dy) { return dy; });
    return;
  }
  {
    const NoTape pause;
    observation_->tell([&](Observer& observer) { observer.on_output(*this, y); });
  }
  y = record({"observe", Node::Kind::view}, view, {y}, [link = observation_](Tensor dy) {
    const NoTape pause;
    if (link->module == nullptr) return dy;
    link->tell([&](Observer& observer) { observer.on_output_gradient(*link->module, dy); });
    return dy;
  });
}

const std::shared_ptr<Observation>& Module::observation() {
  if (observation_ == nullptr) observation_ = std::make_shared<Observation>(Observation{this, {}});
  return observation_;
}

bool Module::observed() const { return observation_ != nullptr && !observation_->seen_by.empty(); }

// A thread without a tape and without an Evaluation of its own is one that helps to evaluate.
bool Module::mode_here() const {
  if (const bool* const mode = Evaluation::mode_of(*this)) return *mode;
  return training_ && recording.tape != nullptr;
}

void Module::set_training(bool training) {
  bool* const mode = Evaluation::mode_of(*this);
  (mode != nullptr ? *mode : training_) = training;
}

std::string Module::type_name() const { return type_name_of(*this); }

const std::string& Module::path() const {
  static const std::string none;
  if (observation_ != nullptr && observation_->name != nullptr) return *observation_->name;
  return has_path() ? *path_.load() : none;
}

}  // namespace isobar
