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

struct NamedModule {
  std::string path;  // "" for the root
  Module* module;
};

// Calls visit(name, tensor, is_buffer) for each tensor that fields() lists, tied and frozen ones included.
void visit_tensors(HasFields& model, const std::function<void(const std::string&, Tensor&, bool)>& visit);
// Trainable tensors in the order of fields(): none that is frozen. A tied tensor appears once, under its
// first name. Throw Error where two of them are still the draws of one key, as in two layers made with one Rng:
// split it for each layer.
std::vector<NamedTensor> named_parameters(HasFields& model);
std::vector<Tensor> parameters(HasFields& model);
// Parameters, frozen ones included, and buffers: what save_safetensors() and copy_state() take. These are the
// model's own tensors, no copies.
std::vector<NamedTensor> named_state(HasFields& model);
// The module itself and all modules in it, parents before children.
std::vector<NamedModule> named_modules(HasFields& model);
int64_t parameter_count(HasFields& model);

// Takes all tensors that fields() lists as parameters out of training, and into it. An optimizer that holds
// them leaves frozen ones alone. A tensor that is never to be trained is a buffer: thaw() cannot know which
// of the others were frozen before, so freeze the parts again that stay frozen.
void freeze(HasFields& model);
void thaw(HasFields& model);

// Gives each module its lasting path, for errors, printed tapes and the keys of dropout. A part of a model that
// has paths keeps its own: what is within it is named after it.
void assign_paths(HasFields& model);
// For Module: gives a path, within `above`, to each module that has none, or has one that is less lasting.
void assign_missing_paths(HasFields& model, const std::string& above, Module::Naming naming);
void train(HasFields& model);
void eval(HasFields& model);
void clear_gradients(const std::vector<Tensor>& parameters);
// Replaces every f32 or f64 parameter and buffer by one of this dtype; tied tensors stay tied, gradients are
// dropped. Optimizers hold the old tensors: convert first.
void convert(HasFields& model, Dtype dtype);
// Copy values by name. The state may have tensors of the model under other names, as to exchange two blocks.
// Throw Error that names the tensors that are missing or superfluous, or the first one of another shape or dtype;
// and for a state that is the model's own tensors under their own names: named_state() does not copy. Nothing has
// been copied then.
//
//   std::vector<NamedTensor> best = named_state(model);
//   for (NamedTensor& entry : best) entry.tensor = clone(entry.tensor);     // the weights as they are now
//   …
//   load_state(model, best);
//
// Where .strict is false, what both have is copied, and a tensor that is missing or superfluous is no error (one of
// another shape or dtype is, and a state that has no name of the model): a classifier on a body that was trained
// before. load_state() returns the names, as PyTorch's missing_keys and unexpected_keys.
struct LoadStateOptions {
  bool strict = true;
};
struct StateDifference {
  std::vector<std::string> missing;     // in the model alone: these tensors keep their values
  std::vector<std::string> unexpected;  // in the state alone
};
void copy_state(HasFields& from, HasFields& to);
StateDifference load_state(HasFields& to, const std::vector<NamedTensor>& state,
                           const LoadStateOptions& options = {});
// What all parameters and buffers are, and how often they were written: two of these are equal only if the
// same tensors had the same values.
std::vector<std::pair<const Version*, uint64_t>> stamps_of(HasFields& model);
// The class's name as the compiler knows it, without namespaces.
std::string type_name_of(const HasFields& part);
// An indented tree, one module per line: name, type, its own tensors, and the number of parameters in it.
std::string describe(HasFields& model);

// Evaluation: a block in which a model is in evaluation and no tape records; afterwards each module is in the
// mode that it was in before, also after an exception.
//
//   {
//     const Evaluation here(model);
//     loss = cross_entropy(model(x), y).item();
//   }
//   tape.backward(...)                    // training goes on, with dropout
//
// It holds for its thread, for the pieces of a backward_in_pieces() in the block, and for threads that have no
// tape, such as one that computes a part of the evaluation. Other threads may train the model meanwhile: their
// masks do not change. train() and eval() in the block hold until its end.
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
