// Module: a struct of tensors and modules with one forward().
//
//   struct RMSNorm : Module {
//     Tensor weight;
//     Tensor forward(const Tensor& x) override { return rms_norm(x, weight.shape(), weight, 1e-5); }
//     void fields(Fields& f) override { f("weight", weight); }
//   };
//   RMSNorm norm(256);
//   Tensor y = norm(x);               // operator() calls forward and shows the output to an observer, if any
//
// fields() lists parameters, buffers and parts once; every function below is a visitor of it. Modules move
// but do not copy (a member-wise copy would share weights): build a second one and copy_state() into it.
// A module belongs to one thread at a time.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "../autograd/ops.h"
#include "../autograd/recording.h"
#include "../core/fields.h"

namespace isobar {

class Observer;

class Module : public HasFields {
 public:
  Module() = default;
  Module(Module&&) = default;
  Module& operator=(Module&&) = default;

  // forward(x) in this module's scope, seen by its observer. Errors gain the module's path.
  Tensor operator()(const Tensor& x);
  virtual Tensor forward(const Tensor& x) = 0;

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
  void set_observer(Observer* observer) { observer_ = observer; }

 private:
  Tensor alias(const Tensor& y);

  const std::string* path_ = nullptr;
  Observer* observer_ = nullptr;
  bool training_ = true;
};

struct NamedTensor {
  std::string name;  // "blocks.3.attention.q_proj.weight"
  Tensor tensor;
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
// An indented tree, one module a line: name, type, its own tensors, and the number of parameters in it.
std::string describe(HasFields& model);

}  // namespace isobar
