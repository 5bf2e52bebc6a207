// Module::call: the door for layers of other inputs than one tensor.
#include <doctest/doctest.h>

#include <cmath>

#include "../../nn/lm/feed_forward.h"
#include "../../nn/lm/language_model.h"
#include "../../nn/observe.h"
#include "../../nn/residual.h"
#include "../../nn/sequential.h"
#include "../message_of.h"

namespace isobar::call_test {

// y = x Wᵀ + c Vᵀ: two inputs.
struct Conditioned : Module {
  Linear of_x, of_c;

  explicit Conditioned(const Rng& rng) : of_x(3, 2, rng.split("x")), of_c(4, 2, rng.split("c")) {}
  Tensor operator()(const Tensor& x, const Tensor& c) {
    return call([&] {
      const Tensor h = of_x(x);
      return h + of_c(c);
    });
  }
  void fields(Fields& f) override {
    f("of_x", of_x);
    f("of_c", of_c);
  }
};

struct TwoOutputs : Module {
  std::pair<Tensor, std::vector<Tensor>> operator()(const Tensor& x) {
    return call([&] { return std::pair{x * 2, std::vector{x * 3, x}}; });
  }
};

struct Model : Module {
  Conditioned part{Rng(1)};
  Tensor operator()(const Tensor& x, const Tensor& c) {
    return call([&] { return tanh(part(x, c)); });
  }
  void fields(Fields& f) override { f("part", part); }
};

// Notes who called, and the sums of outputs and of their gradients.
struct Notes : Observer {
  const Module* last = nullptr;
  std::vector<std::string> forward, backward;
  std::vector<double> outputs, gradients;
  void on_output(const Module& module, const Tensor& y) override {
    forward.push_back(module.path());
    outputs.push_back(sum(y).item());
  }
  void on_output_gradient(const Module& module, const Tensor& dy) override {
    last = &module;
    backward.push_back(module.path());
    gradients.push_back(sum(dy).item());
  }
};

using Paths = std::vector<std::string>;

TEST_CASE("a layer of two inputs has its path, its scope and its observers") {
  Model model;
  Notes notes;
  const Watch watch(model, notes);
  Tape tape;
  const Tensor y = model(ones({5, 3}), ones({5, 4}));
  CHECK(notes.forward == Paths{"part.of_x", "part.of_c", "part", ""});
  Paths scopes;
  for (const Node* node : tape.nodes()) scopes.push_back(node->place());
  CHECK(scopes[0] == "linear in part.of_x");
  CHECK(scopes[4] == "add in part");
  tape.backward(sum(y));
  CHECK(notes.backward.size() == 4);
  CHECK(model.part.of_c.weight.grad().defined());
  CHECK_THROWS_WITH_AS(model(ones({5, 3}), ones({5, 7})),
                       "in part.of_c: linear: the last dimension of x [5, 7] must be 4 for weight [2, 4]",
                       Error);
}

TEST_CASE("a layer of two inputs that is asked for one says so") {
  Conditioned layer{Rng(1)};
  Module& module = layer;
  CHECK_THROWS_WITH_AS(module(ones({5, 3})),
                       "Conditioned: no forward of one tensor is written for it; got x [5, 3]", Error);
}

TEST_CASE("an observer sees each of several outputs, and its gradient") {
  TwoOutputs layer;
  Notes notes;
  const Watch watch(layer, notes);
  const Tensor x = ones({2}).set_trainable();
  Tape tape;
  const auto [twice, others] = layer(x);
  CHECK(notes.outputs == std::vector<double>{4, 6, 2});
  tape.backward(sum(twice) + sum(others[0]) * 5.0 + sum(others[1]) * 7.0);
  CHECK(x.grad().to_vector<double>() == std::vector<double>{2 + 15 + 7, 2 + 15 + 7});
  CHECK(notes.gradients == std::vector<double>{14, 10, 2});
}

TEST_CASE("a number beside an output is no output") {
  struct Counting : Module {
    std::tuple<Tensor, int64_t, std::vector<double>> operator()(const Tensor& x) {
      return call([&] { return std::tuple{x * 2, int64_t{7}, std::vector<double>{0.5}}; });
    }
  } layer;
  Notes notes;
  const Watch watch(layer, notes);
  const auto [y, count, share] = layer(ones({2}));
  CHECK((count == 7 && share[0] == 0.5));
  CHECK(notes.outputs == std::vector<double>{4});
}

TEST_CASE("an output that the call did not compute gets a place of its own on the tape") {
  struct Pass : Module {
    Tensor weight = ones({2}).set_trainable();
    Tensor forward(const Tensor&) override { return weight; }
  } pass;
  Tape tape;
  const Tensor y = pass(ones({2}));
  CHECK(y.id() != pass.weight.id());
  tape.backward(sum(y * 3.0));
  CHECK(pass.weight.grad().at({0}) == 3);
}

TEST_CASE("of two watches on one model both see everything, in whatever order they end") {
  Sequential model(Linear(3, 3, Rng(1)));
  Notes outer, inner;
  const Watch first(model, outer);
  {
    const Watch second(model, inner);
    model(ones({1, 3}));
  }
  CHECK(inner.forward.size() == 2);
  CHECK(outer.forward.size() == 2);
  model(ones({1, 3}));
  CHECK(inner.forward.size() == 2);
  CHECK(outer.forward.size() == 4);

  auto early = std::make_unique<Watch>(model, inner);
  const Watch late(model, inner);
  early.reset();
  model(ones({1, 3}));
  CHECK(inner.forward.size() == 4);
}

TEST_CASE("a watched layer may move, and is watched in its new place until its watch ends") {
  Notes notes;
  std::optional<Linear> moved;
  {
    Linear layer(3, 3, Rng(1));
    {
      const Watch watch(layer, notes);
      moved.emplace(std::move(layer));
      Tape tape;
      tape.backward(sum((*moved)(ones({1, 3}))));
      CHECK(notes.last == &*moved);
    }
  }
  (*moved)(ones({1, 3}));  // nobody watches
  CHECK(notes.forward.size() == 1);
}

TEST_CASE("a model that ended before its gradient came back is not asked again") {
  Notes notes;
  const Tensor x = ones({1, 3}).set_trainable();
  Tape tape;
  Tensor y;
  {
    auto model = std::make_unique<Linear>(3, 3, Rng(1));
    const Watch watch(*model, notes);
    y = (*model)(x);
    model.reset();
    tape.backward(sum(y));
  }
  CHECK(x.grad().defined());
  CHECK(notes.forward.size() == 1);
  CHECK(notes.backward.empty());
}

TEST_CASE("a language model's loss has the scopes of its parts and shows no loss as an output") {
  LanguageModel model({.vocab_size = 4096, .block_size = 8, .n_layer = 1, .n_head = 2, .n_embd = 8}, Rng(1));
  REQUIRE(model.fuses_loss());
  Notes notes;
  const Watch watch(model, notes);
  Tape tape;
  const Tensor tokens = zeros({1, 4}, Dtype::i64);
  const Tensor loss = model.loss(tokens, tokens);
  CHECK(tape.nodes().back()->place() == "linear_cross_entropy in lm_head");
  CHECK(notes.forward.back() == "norm");
  tape.backward(loss);
}

}  // namespace isobar::call_test
