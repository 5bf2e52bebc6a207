// Module: a struct of tensors and modules with one forward().
//
//   struct RMSNorm : Module {
//     Tensor weight;
//     Tensor forward(const Tensor& x) override { return rms_norm(x, weight.shape(), weight, 1e-5); }
//     void fields(Fields& f) override { f("weight", weight); }
//   };
//   RMSNorm norm(256);
//   Tensor y = norm(x);               // operator() calls forward and shows the output to observers, if any
//
// A layer of other inputs than one tensor has an operator() of its own, which goes through the same door:
//
//   struct CrossAttention : Module {
//     Tensor operator()(const Tensor& x, const Tensor& memory) {
//       return call([&] { return out_proj(attention(q_proj(x), k_proj(memory), v_proj(memory))); });
//     }
//   };
//
// fields() lists parameters, buffers and parts once; every function below is a visitor of it. Modules move
// but do not copy (a member-wise copy would share weights): build a second one and copy_state() into it.
// A module belongs to one thread at a time.
#pragma once

#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "../autograd/ops.h"
#include "../autograd/recording.h"
#include "../core/fields.h"

namespace isobar {

struct Observation;

class Module : public HasFields {
 public:
  Module() = default;
  Module(Module&&) noexcept;
  Module& operator=(Module&&) noexcept;
  ~Module() override;

  // forward(x) in this module's scope, seen by its observers. Errors gain the module's path.
  Tensor operator()(const Tensor& x);
  // One tensor in, one out. Layers of other inputs leave it alone: it then throws Error.
  virtual Tensor forward(const Tensor& x);

  // The class's name, for printing; the default asks the compiler.
  virtual std::string type_name() const;
  // "blocks.3.self_attn". The first call of a model gives all its modules their paths, as do assign_paths()
  // and Watch; "" before that, and for the model itself.
  const std::string& path() const;

  // Dropout and batch statistics behave differently in training and evaluation; set by train() and eval().
  bool training() const { return training_; }

  // For the visitors below and Watch.
  void set_path(const std::string& path) { path_ = Scope::intern(path); }
  void set_training(bool training) { training_ = training; }
  const std::shared_ptr<Observation>& observation();

 protected:
  enum class Output { shown, hidden };
  // body() as this module's forward: in its scope, its output seen by observers (a Tensor, or several in a
  // pair, tuple, array or vector), its path in errors. `hidden` is for what is not the module's output, such
  // as a loss that is computed along with it.
  template <class Body>
  auto call(const Body& body, Output output = Output::shown) {
    const Call here(*this);
    try {
      auto y = body();
      if (output == Output::shown) each_output(y, [&](Tensor& tensor) { tensor = show(tensor, here); });
      return y;
    } catch (Error& error) {
      error.locate(path());
      throw;
    }
  }

 private:
  // A call under way: opens the module's scope.
  struct Call {
    explicit Call(Module& module);
    const Scope scope;
    const int64_t first_slot;  // of the tape that records; the call's own ops come from here on
  };
  const std::string* scope();
  Tensor show(const Tensor& y, const Call& call);

  template <class Visit>
  static void each_output(Tensor& y, const Visit& visit) {
    visit(y);
  }
  template <class Many, class Visit>
  static void each_output(Many& many, const Visit& visit) {
    if constexpr (requires { many.begin(); })
      for (auto& one : many) each_output(one, visit);
    else if constexpr (requires { std::tuple_size<Many>::value; })
      std::apply([&](auto&... one) { (each_output(one, visit), ...); }, many);
  }

  const std::string* path_ = nullptr;
  std::shared_ptr<Observation> observation_;  // made by the first Watch
  bool training_ = true;
};

struct NamedModule {
  std::string path;  // "" for the root
  Module* module;
};

// Trainable tensors in the order of fields(); tied ones once, under their first name.
std::vector<NamedTensor> named_parameters(HasFields& model);
std::vector<Tensor> parameters(HasFields& model);
// Parameters and buffers: all that save and copy_state move.
std::vector<NamedTensor> named_state(HasFields& model);
// The module itself and all modules within, parents before children.
std::vector<NamedModule> named_modules(HasFields& model);
int64_t parameter_count(HasFields& model);

// Tells each module its path, for errors, prints of tapes, observation and dropout's keys.
void assign_paths(HasFields& model);
void train(HasFields& model);
void eval(HasFields& model);
// Forgets all gradients.
void clear_gradients(const std::vector<Tensor>& parameters);
// Replaces every f32 or f64 parameter and buffer by one of this dtype; tied tensors stay tied. Optimizers
// hold the old tensors: convert first. Gradients are dropped.
void convert(HasFields& model, Dtype dtype);
// Copies values by name. Throws Error naming the first tensor that is missing, superfluous, or of another
// shape or dtype, and then nothing has been copied.
void copy_state(HasFields& from, HasFields& to);
void load_state(HasFields& to, const std::vector<NamedTensor>& state);
// The class's name as the compiler knows it, without namespaces.
std::string type_name_of(const HasFields& part);
// An indented tree, one module a line: name, type, its own tensors, and the number of parameters in it.
std::string describe(HasFields& model);

}  // namespace isobar
