// Evaluation: whoever evaluates a model leaves each of its modules in the mode that it was in, whatever
// happens, and nothing on a tape.
#include "../../nn/model.h"

#include <doctest/doctest.h>

#include "../../experiments/lm/training/train.h"
#include "../../experiments/lm/watching/attention_logits.h"
#include "../../experiments/lm_norms/results.h"
#include "../../nn/lm/lm.h"
#include "../../nn/nn.h"

namespace isobar::evaluation_test {

struct Row {
  const char* name;
  std::function<std::unique_ptr<Module>()> make;
  std::function<void(Module&)> evaluate;
};

std::unique_ptr<Module> language_model() {
  return std::make_unique<LanguageModel>(
      LanguageModelConfig{
          .vocab_size = 7, .block_size = 6, .n_layer = 2, .n_head = 2, .n_embd = 8, .dropout = 0.2},
      Rng(1));
}

// All that evaluates a model of its caller.
const std::vector<Row>& rows() {
  static const std::vector<int32_t> text{1, 2, 3, 4, 5, 6, 0, 1};
  static const auto lm = [](Module& model) -> LanguageModel& { return dynamic_cast<LanguageModel&>(model); };
  static const std::vector<Row> all{
      {"text_loss", language_model, [](Module& m) { text_loss(lm(m), text); }},
      {"generate", language_model,
       [](Module& m) {
         generate(lm(m), {1, 2}, 6, {}, Rng(2));
       }},
      {"logit_peaks", language_model,
       [](Module& m) {
         logit_peaks(lm(m), Rng(3).integers({2, 6}, 7));
       }},
      {"mean_loss of the trainings", language_model,
       [](Module& m) { mean_loss(m, TokenDataset(text, 4, "text"), 2, 2, Rng(2)); }},
      {"length_errors",
       [] {
         return std::make_unique<NGPT>(
             NGPTConfig{
                 .vocab_size = 7, .block_size = 6, .n_layer = 2, .n_head = 2, .n_embd = 8, .hidden = 12},
             Rng(1));
       },
       [](Module& m) {
         length_errors(dynamic_cast<NGPT&>(m), Rng(3).integers({2, 6}, 7));
       }},
  };
  return all;
}

std::vector<bool> modes_of(Module& model) {
  std::vector<bool> modes;
  for (const NamedModule& part : named_modules(model)) modes.push_back(part.module->training());
  return modes;
}

// Throws when the n-th output of a module is shown to it, and counts outputs of modules in training.
struct Thrower : Observer {
  int64_t left, training = 0;
  explicit Thrower(int64_t n) : left(n) {}
  void on_output(const Module& module, const Tensor&) override {
    training += module.training();
    if (left-- == 0) throw std::runtime_error("thrown");
  }
  void on_output_gradient(const Module&, const Tensor&) override {}
};

TEST_CASE("an evaluation runs in evaluation, records nothing and brings each module's mode back") {
  for (const Row& row : rows()) {
    CAPTURE(row.name);
    for (const bool before : {true, false}) {
      const std::unique_ptr<Module> model = row.make();
      before ? train(*model) : eval(*model);
      named_modules(*model)[2].module->set_training(!before);  // one that differs from the others
      const std::vector<bool> modes = modes_of(*model);
      Thrower never(-1);
      const Watch watch(*model, never);
      const Tape tape({.rng = Rng(4)});
      row.evaluate(*model);
      CHECK(never.training == 0);
      CHECK(tape.recorded() == 0);
      CHECK(modes_of(*model) == modes);
    }
  }
}

TEST_CASE("an evaluation that throws brings each module's mode back, and the tape records again") {
  for (const Row& row : rows()) {
    CAPTURE(row.name);
    for (const int64_t n : {0, 3, 7}) {
      const std::unique_ptr<Module> model = row.make();
      Thrower thrower(n);
      const Watch watch(*model, thrower);
      const Tape tape({.rng = Rng(4)});
      CHECK_THROWS_WITH_AS(row.evaluate(*model), "thrown", std::runtime_error);
      for (const bool training : modes_of(*model)) CHECK(training);
      CHECK(Tape::active() == &tape);
    }
  }
}

}  // namespace isobar::evaluation_test
