// Evaluation: a block in which a model is in evaluation and no tape records; afterwards each module is in the
// mode that it was in before, also after an exception.
//
//   {
//     const Evaluation here(model);
//     loss = cross_entropy(model(x), y).item();
//   }
//   tape.backward(...)                    // training goes on, with dropout
//
// The model must not move, nor change its parts, in the block.
#pragma once

#include "model.h"

namespace isobar {

class Evaluation {
 public:
  explicit Evaluation(HasFields& model) {
    for (const NamedModule& part : named_modules(model))
      before_.emplace_back(part.module, part.module->training());
    eval(model);
  }
  ~Evaluation() {
    for (const auto& [module, training] : before_) module->set_training(training);
  }
  Evaluation(const Evaluation&) = delete;
  Evaluation& operator=(const Evaluation&) = delete;

 private:
  std::vector<std::pair<Module*, bool>> before_;
  const NoTape pause_;
};

}  // namespace isobar
