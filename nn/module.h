// Module: a struct of tensors and modules with one forward().
//
//   struct RMSNorm : Module {
//     Tensor weight;
//     Tensor forward(const Tensor& x) override { return rms_norm(x, weight.shape(), weight, 1e-5); }
//     void fields(Fields& f) override { f("weight", weight); }
//   };
//   RMSNorm norm(256);
//   Tensor y = norm(x);               // operator() calls forward and notifies observers of the output, if there are any
//
// A layer with several inputs or outputs defines its own operator(), which calls call(body):
//
//   struct CrossAttention : Module {
//     Tensor operator()(const Tensor& x, const Tensor& memory) {
//       return call([&] { return out_proj(attention(q_proj(x), k_proj(memory), v_proj(memory))); });
//     }
//   };
//
// fields() lists parameters, buffers and parts once; the functions of model.h visit them. Modules can be
// moved but not copied, because a member-wise copy would share weights: construct a second module and call
// copy_state(). A module belongs to one thread at a time. A forward() without state may run on several
// threads at once (pieces.h).
#pragma once

#include <atomic>
#include <tuple>

#include "../autograd/ops.h"
#include "../autograd/recording.h"
#include "../core/fields.h"

#ifndef __cpp_rtti
#error "isobar needs run-time type information: it finds layers by dynamic_cast. Compile without -fno-rtti."
#endif

namespace isobar {

struct Observation;

class Module : public HasFields {
 public:
  Module() = default;
  // Declared here so that a compiler's message about a copied layer ends with this line.
  Module(const Module&) = delete;  // a copy would share weights: build a second module, copy_state() into it
  Module(Module&&) noexcept;
  Module& operator=(Module&&) noexcept;
  ~Module() override;

  // Returns forward(x), in the scope of this module. Its observers are notified. An Error gets the module's
  // path.
  Tensor operator()(const Tensor& x);
  // The layer's formula, for one input and one output. The default throws Error; a layer with several inputs
  // does not override it.
  virtual Tensor forward(const Tensor& x);

  // Returns the name of the class, for printing. The default takes it from the compiler.
  virtual std::string type_name() const;
  // Returns the path of the module in its model, such as "blocks.3.self_attn". assign_paths() and the first
  // call of a model give all its modules their paths. The path is "" before that, and for the model itself.
  // Paths from a call on a tape with an Rng are permanent, because the keys of dropout masks depend on them.
  // Other paths are replaced by such a call, so an evaluation does not change later masks. While an observer
  // is notified, this is the module's name relative to the watched model.
  const std::string& path() const;

  // Whether the module is in training: Dropout and BatchNorm differ between training and evaluation. train()
  // and eval() set it. On a thread with an Evaluation of a model that has this module, the Evaluation
  // decides; other threads that have a tape continue in the mode that the module had.
  bool training() const {
    return evaluations_.load(std::memory_order_relaxed) == 0 ? training_ : mode_here();
  }

  // The functions below are for model.h, pieces.h and Watch.
  enum class Naming { lasting, provisional };
  void set_path(const std::string& path, Naming naming) {
    path_ = Scope::intern(path);
    naming_ = naming;
  }
  bool has_path() const { return path_.load() != nullptr; }
  Naming naming() const { return naming_; }  // of a module that has a path
  void set_training(bool training);
  void count_evaluations(int by) const { evaluations_.fetch_add(by, std::memory_order_relaxed); }
  void set_pieces(uint64_t step) { pieces_ = step; }
  void note_listed() { listed_.store(true, std::memory_order_relaxed); }
  const std::shared_ptr<Observation>& observation();
  bool observed() const;

 protected:
  enum class Output { shown, hidden };
  // Runs body() as the forward pass of this module and returns its result: a Tensor, or a pair, tuple, array
  // or vector of tensors and numbers. Another type does not compile. Tape nodes get the module's scope,
  // observers are notified of each tensor, and an Error gets the module's path. With Output::hidden observers
  // are not notified, for a result that is not the module's output, such as a loss.
  template <class Body>
  auto call(const Body& body, Output output = Output::shown) {
    const Call here(*this);
    try {
      auto y = body();
      if (output == Output::shown) show(y, here);
      return y;
    } catch (Error& error) {
      error.locate(path());
      throw;
    }
  }

 private:
  // Opens the module's scope for the duration of a call.
  struct Call {
    explicit Call(Module& module);
    const Scope scope;
    const int64_t first_slot;  // on the active tape; the ops of this call have this slot or a later one
  };
  ScopeName scope_name();
  bool mode_here() const;
  void take(Module& other);
  void mark_replaced();
  void show(Tensor& y, const Call& call);
  template <class Tuple, size_t... i>
  void show_each([[maybe_unused]] Tuple& many, [[maybe_unused]] const Call& call, std::index_sequence<i...>) {
    (show(std::get<i>(many), call), ...);
  }
  // Every tensor in a result, nested containers included.
  template <class Many>
  void show(Many& many, const Call& call) {
    if constexpr (requires { many.begin(); })
      for (auto& one : many) show(one, call);
    else if constexpr (requires { std::tuple_size<Many>::value; })
      show_each(many, call, std::make_index_sequence<std::tuple_size_v<Many>>());
    else
      static_assert(
          std::is_arithmetic_v<Many>,
          "call(): observers would not see the tensors in this type; return a Tensor, or a pair, tuple, "
          "array or vector of them, and make a struct of it outside of call()");
  }

  std::shared_ptr<Observation> observation_;  // made by the first Watch
  uint64_t pieces_ = 0;                       // the last step of pieces whose model had this module
  // Pieces may name a module that their loss_of calls at once, all alike.
  std::atomic<ScopeName> path_ = ScopeName();
  std::atomic<Naming> naming_ = Naming::provisional;
  mutable std::atomic<int> evaluations_ = 0;  // that have this module now, on all threads
  // Whether a function of model.h has visited fields(), since this module was last moved from.
  std::atomic<bool> listed_ = false;
  bool training_ = true;
};

// Lambdas in public headers name what they capture: g++ and clang++ store [&] in different orders, and a
// program of one may call such a lambda in a library of the other.
inline Tensor Module::operator()(const Tensor& x) {
  return call([this, &x] { return forward(x); });
}

}  // namespace isobar
