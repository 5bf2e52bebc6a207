// Evaluation: whoever evaluates a model leaves each of its modules in the mode that it was in, whatever
// happens, and nothing on a tape.
#include "../../nn/model.h"

#include <doctest/doctest.h>

#include <future>

#include "../../core/parallel.h"
#include "../../experiments/lm/training/train.h"
#include "../../experiments/lm/watching/attention_logits.h"
#include "../../experiments/studies/lm_norms/results.h"
#include "../../nn/lm/lm.h"
#include "../../nn/nn.h"
#include "../../nn/pieces.h"
#include "../small_tensors.h"

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

// What f() returns on a new thread.
template <class F>
auto elsewhere(const F& f) {
  return std::async(std::launch::async, f).get();
}

TEST_CASE("an evaluation on one thread does not change the mode of a training on another") {
  Dropout layer(0.5);
  const Tensor x = leaf(full({64}, 1));
  const auto trained = [&] {
    Tape tape({.rng = Rng(5)});
    return layer(x).to_vector<float>();
  };
  const std::vector<float> masked = trained(), whole(64, 1.0f);
  REQUIRE(masked != whole);
  const auto evaluated = [&] { return layer(x).to_vector<float>(); };
  {
    const Evaluation here(layer);
    CHECK(evaluated() == whole);
    CHECK(trained() == whole);  // a tape within the evaluation
    CHECK(elsewhere(trained) == masked);
    CHECK(elsewhere(evaluated) == whole);  // a thread that helps
    elsewhere([&] {
      const Evaluation second(layer);
      return 0;
    });
    CHECK_FALSE(layer.training());
    {
      const Evaluation within(layer);
      train(layer);
      CHECK(layer.training());
    }
    CHECK_FALSE(layer.training());
  }
  CHECK(layer.training());
  CHECK(trained() == masked);
  std::atomic<bool> ended = false;
  const auto evaluations = std::async(std::launch::async, [&] {
    while (!ended) const Evaluation here(layer);
  });
  for (int step = 0; step < 200; ++step) CHECK(trained() == masked);
  ended = true;
}

TEST_CASE("pieces may evaluate the model or a teacher, and those of an evaluation are in evaluation") {
  const WithThreads two(2);
  Sequential model(Linear(8, 8, Rng(1)), Dropout(0.5)), teacher(Linear(8, 8, Rng(2)), Dropout(0.5));
  const Tensor x = Rng(3).normal({4, 8});
  std::atomic<int> wrong = 0;
  const auto losses = [&](bool evaluates) {
    return backward_in_pieces(model, 16,
                              [&](int64_t) {
                                if (evaluates) {
                                  const Evaluation model_here(model), teacher_here(teacher);
                                  wrong += model(x).to_vector<float>() != model(x).to_vector<float>() ||
                                           teacher.training();
                                }
                                return mean(square(model(x)));
                              },
                              {.rng = Rng(4), .again = true});
  };
  const std::vector<double> wanted = losses(false);
  for (int run = 0; run < 20; ++run) CHECK(losses(true) == wanted);
  CHECK(wrong == 0);
  CHECK(teacher.training());
  const Evaluation here(model);
  const std::vector<double> evaluated = losses(false);
  CHECK(evaluated == std::vector<double>(16, mean(square(model(x))).item()));
}

}  // namespace isobar::evaluation_test
