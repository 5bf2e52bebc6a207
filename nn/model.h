// Functions of a whole model: its parameters and state by name, its modules, training and evaluation,
// printing. They visit fields(), so they take a module, or any struct with fields() such as an optimizer.
//
//   for (const NamedTensor& p : named_parameters(model)) fmt::print("{} {}\n", p.name, p.tensor.shape());
//   eval(model);
//   load_state(model, load_safetensors("model.safetensors"));
#pragma once

#include <functional>
#include <string>
#include <unordered_map>
#include <utility>

#include "module.h"

namespace isobar {

// A module and its path in the model.
struct NamedModule {
  std::string path;  // "" for the root
  Module* module;
};

// Calls visit(name, tensor, is_buffer) for each tensor that fields() lists, with tied and frozen ones. Throws
// Error, as all functions here that go through the tensors, if two of them have one name, or if one is listed
// as a buffer and is trainable.
void visit_tensors(HasFields& model, const std::function<void(const std::string&, Tensor&, bool)>& visit);
// Returns the trainable tensors in the order of fields(), without frozen ones. A tied tensor is listed once,
// under its first name. Throws Error if two of them were drawn with one key, as when two layers are made with
// the same Rng: split the Rng for each layer.
std::vector<NamedTensor> named_parameters(HasFields& model);
// Returns the tensors of named_parameters(): what an optimizer takes. Throws Error as named_parameters()
// does.
std::vector<Tensor> parameters(HasFields& model);
// Returns all parameters, with frozen ones, and all buffers: what save_safetensors() and copy_state() take.
// They are the tensors of the model, not copies.
std::vector<NamedTensor> named_state(HasFields& model);
// Returns the module itself and all modules in it, parents before children.
std::vector<NamedModule> named_modules(HasFields& model);
// Returns the number of elements of all parameters, tied ones counted once.
int64_t parameter_count(HasFields& model);

// Makes all parameters of the model not trainable. An optimizer that has them does not change them.
void freeze(HasFields& model);
// Makes all parameters of the model trainable. It does not know which ones were frozen before: freeze those
// parts again. List a tensor that is never trained as a buffer.
void thaw(HasFields& model);

// Gives each module its permanent path, for errors, printed tapes and the keys of dropout. A part that has a
// path already keeps it, and the modules in it are named after it.
void assign_paths(HasFields& model);
// For Module: gives a path, within `above`, to each module that has none, or has one that is less lasting.
void assign_missing_paths(HasFields& model, const std::string& above, Module::Naming naming);
// Sets all modules to training: Dropout draws masks, BatchNorm uses statistics of the batch.
void train(HasFields& model);
// Sets all modules to evaluation. Evaluation (below) does this for a block of code.
void eval(HasFields& model);
// Discards the gradients. Needed only for gradients that no optimizer used: step() clears the others.
void clear_gradients(const std::vector<Tensor>& parameters);
// Replaces every f32 or f64 parameter and buffer by one of this dtype. Tied tensors stay tied; gradients are
// dropped. Convert a model before an optimizer is made: the optimizer would keep the old tensors.
void convert(HasFields& model, Dtype dtype);
// Options of load_state().
struct LoadStateOptions {
  bool strict = true;
};
// What load_state() returns: the missing_keys and unexpected_keys of PyTorch.
struct StateDifference {
  std::vector<std::string> missing;     // names in the model only: these tensors keep their values
  std::vector<std::string> unexpected;  // names in the state only
};
// Copies all parameters and buffers of one model to another one, by name. Throws Error as load_state() does.
void copy_state(HasFields& from, HasFields& to);
// Copies the values of a state to the parameters and buffers of the same names. The state may have tensors of
// the model under other names, for instance to exchange two blocks. Throws Error, and copies nothing, if
// tensors are missing or unexpected, or have another shape or dtype; and if the state has the model's own
// tensors under their own names, because named_state() does not copy:
//
//   std::vector<NamedTensor> best = named_state(model);
//   for (NamedTensor& entry : best) entry.tensor = clone(entry.tensor);     // the weights as they are now
//   …
//   load_state(model, best);
//
// If .strict is false, names that only one side has are no error, as for a classifier on a body that was
// trained before. Another shape or dtype is still an error, and so is a state without any name of the model.
StateDifference load_state(HasFields& to, const std::vector<NamedTensor>& state,
                           const LoadStateOptions& options = {});
// What all parameters and buffers are, and how often they were written: two of these are equal only if the
// same tensors had the same values.
std::vector<std::pair<const Version*, uint64_t>> stamps_of(HasFields& model);
// Returns the name of the class, without namespaces.
std::string type_name_of(const HasFields& part);
// Returns a printed tree with one module per line: name, type, its own tensors, and the number of its
// parameters.
std::string describe(HasFields& model);

// Evaluation: a block in which a model is in evaluation. In the block, tapes of this thread that were opened
// before it do not record. After the block each module is in the mode that it was in before, also after an
// exception.
//
//   {
//     const Evaluation here(model);
//     loss = cross_entropy(model(x), y).item();
//   }
//   tape.backward(...)                    // training goes on, with dropout
//
// It holds for its thread, for the pieces of a backward_in_pieces() in the block, and for threads that have
// no tape, such as one that computes a part of the evaluation. Other threads may train the model meanwhile:
// their masks do not change. train() and eval() in the block hold until its end.
//
// The model must not move, nor change its parts, in the block.
class Evaluation {
 public:
  [[nodiscard]] explicit Evaluation(HasFields& model) {
    for (const NamedModule& part : named_modules(model)) training_.emplace(part.module, false);
    for (const auto& [module, training] : training_) module->count_evaluations(1);
    recording.evaluation = this;
  }
  ~Evaluation() {
    for (const auto& [module, training] : training_) module->count_evaluations(-1);
  }
  Evaluation(const Evaluation&) = delete;
  Evaluation& operator=(const Evaluation&) = delete;

  // For Module: whether it is in training within the innermost Evaluation of this thread that has it; null
  // without one.
  static bool* mode_of(const Module& module) {
    for (Evaluation* one = recording.evaluation; one != nullptr; one = one->outer_)
      if (const auto mode = one->training_.find(&module); mode != one->training_.end()) return &mode->second;
    return nullptr;
  }

 private:
  Evaluation* const outer_ = recording.evaluation;
  std::unordered_map<const Module*, bool> training_;
  const NoTape pause_;  // brings the recording's evaluation back, too
};

}  // namespace isobar
