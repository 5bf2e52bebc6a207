// The recipes of docs/recipes.md, of which docs/check makes recipes.h and read_model.py: each does what its text says.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <numeric>
#include <sstream>

#include "recipes.h"

namespace {

double loss_of(Module& model, const Rng& rng) {
  const Evaluation evaluation(model);
  const Tensor x = inputs(rng.split("test"), 0);
  return mse_loss(model(x), targets(x)).item();
}

// The largest difference between the elements of two tensors.
double apart(const Tensor& a, const Tensor& b) { return max(abs(a - b)).item(); }

}  // namespace

TEST_CASE("a recipe has at most fifteen lines, and there are fifteen") {
  std::ifstream file(RECIPES);
  int recipes = 0, lines = -1;
  std::string heading;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("## ")) heading = line, ++recipes;
    if (line.starts_with("```")) {
      if (lines >= 0 && !heading.empty()) CHECK_MESSAGE(lines <= 15, heading);
      lines = lines < 0 ? 0 : -1;
    } else if (lines >= 0) {
      ++lines;
    }
  }
  CHECK(recipes == 15);
}

TEST_CASE("LoRA starts as its base, trains A and B, and leaves the base alone") {
  const Rng rng(1);
  Linear base(2, 1, rng.split("base"));
  const Tensor x = inputs(rng, 0), before = base(x).detach(), weight = clone(base.weight).detach();
  LoRA layer(std::move(base), 2, rng.split("lora"));
  CHECK(apart(layer(x), before) == 0);
  CHECK(parameters(layer).size() == 2);
  AdamW optimizer(parameters(layer), {.lr = 1e-2});
  for (int64_t step = 0; step < 5; ++step) train_step(layer, optimizer, inputs(rng, step));
  CHECK(apart(layer.base.weight, weight) == 0);
  CHECK(apart(layer(x), before) > 1e-3);
}

TEST_CASE("a tied weight is one parameter, and both layers move together") {
  TiedModel model(5, 3, Rng(1));
  CHECK(parameter_count(model) == 15);
  Tape tape;
  tape.backward(cross_entropy(model(tensor({0, 2}, Dtype::i64)), tensor({1, 4}, Dtype::i64)));
  SGD(parameters(model), {.lr = 0.1}).step();
  CHECK(apart(model.embed.weight, model.head.weight) == 0);
}

TEST_CASE("a group without weight decay keeps a bias whose gradient is zero") {
  const Rng rng(1);
  Sequential model = small_net(rng);
  AdamW optimizer = with_groups(model);
  auto& last = dynamic_cast<Linear&>(*model.parts[2]);
  const Tensor weight = clone(last.weight).detach(), bias = clone(last.bias).detach();
  for (const Tensor& p : parameters(model)) p.set_grad(zeros_like(p));
  optimizer.step();
  CHECK(apart(last.bias, bias) == 0);
  CHECK(apart(last.weight, weight * (1 - 1e-2 * 0.1)) < 1e-7);  // rounding of one product
}

TEST_CASE("accumulated gradients are those of the whole batch") {
  const Rng rng(1);
  Sequential parts = small_net(rng.split("net")), whole = small_net(rng.split("net"));
  SGD of_parts(parameters(parts), {.lr = 0.1}), of_whole(parameters(whole), {.lr = 0.1});
  const double loss = accumulated_step(parts, of_parts, rng, 0);
  const Tensor x = concat({inputs(rng, 0), inputs(rng, 1), inputs(rng, 2), inputs(rng, 3)});
  CHECK(loss == doctest::Approx(train_step(whole, of_whole, x)).epsilon(1e-6));
  for (size_t i = 0; i < 4; ++i) CHECK(apart(parameters(parts)[i], parameters(whole)[i]) < 1e-6);  // f32 sums
}

TEST_CASE("the schedule ends near its smallest rate, and the net learns") {
  const Rng rng(1);
  Sequential model = small_net(rng);
  AdamW optimizer(parameters(model));
  const double before = loss_of(model, rng);
  with_schedule(model, optimizer, rng, 200);
  CHECK(optimizer.lr() == doctest::Approx(1e-4).epsilon(0.01));
  CHECK(loss_of(model, rng) < before / 2);
}

TEST_CASE("a clipped step is as long as max_norm allows") {
  const Rng rng(1);
  Sequential model = small_net(rng), before = small_net(rng);
  SGD optimizer(parameters(model), {.lr = 1});
  CHECK(clipped_step(model, optimizer, inputs(rng, 0), 0.01) > 0.01);
  double squares = 0;
  for (size_t i = 0; i < 4; ++i)
    squares += std::pow(norm_of(parameters(model)[i] - parameters(before)[i]), 2);
  CHECK(std::sqrt(squares) == doctest::Approx(0.01).epsilon(1e-3));
}

TEST_CASE("an early stop returns to the best weights") {
  const Rng rng(1);
  Sequential model = small_net(rng.split("net"));
  AdamW optimizer(parameters(model), {.lr = 3e-2});
  const double best = with_patience(model, optimizer, rng, "best.safetensors");
  const Tensor x = inputs(rng.split("validation"), 0);
  CHECK(mse_loss(model(x), targets(x)).item() == best);
  CHECK(best < 0.1);
}

TEST_CASE("a list of layers names its parts by number") {
  DeepNet model(3, 4, Rng(1));
  CHECK(named_parameters(model).size() == 6);
  CHECK(named_parameters(model)[2].name == "layers.1.weight");
  CHECK(model(ones({2, 4})).shape() == Shape{2, 4});
}

TEST_CASE("training on a subset sees its examples once") {
  const Rng rng(1);
  Sequential model = small_net(rng);
  SGD optimizer(parameters(model));
  const Tensor x = inputs(rng, 0);
  CHECK(train_on_first(TensorDataset(x, targets(x)), 20, model, optimizer) == 20);
}

TEST_CASE("an average moves by 1 − decay towards the model") {
  const Rng rng(1);
  Sequential model = small_net(rng.split("a")), average = small_net(rng.split("b"));
  const Tensor from = named_state(model)[0].tensor, before = clone(named_state(average)[0].tensor).detach();
  update_average(model, average, 0.75);
  CHECK(apart(named_state(average)[0].tensor, 0.75 * before + 0.25 * from) == 0);
}

TEST_CASE("an average of a model with BatchNorm has its statistics averaged and its count copied") {
  Sequential model(BatchNorm1d(2)), average(BatchNorm1d(2));
  model(ones({4, 2}));
  update_average(model, average, 0.75);
  const BatchNorm1d &of = dynamic_cast<BatchNorm1d&>(*model.parts[0]),
                    &to = dynamic_cast<BatchNorm1d&>(*average.parts[0]);
  CHECK(to.num_batches_tracked.item() == 1);
  CHECK(apart(to.running_mean, 0.25 * of.running_mean) == 0);
}

TEST_CASE("frozen layers stay, and the last one learns") {
  const Rng rng(1);
  Sequential model = small_net(rng.split("net")), before = small_net(rng.split("net"));
  CHECK(train_last_layer(model, rng, 300) < loss_of(before, rng));
  for (const size_t i : {0, 1})
    CHECK(apart(named_state(model)[i].tensor, named_state(before)[i].tensor) == 0);
  CHECK(apart(named_state(model)[2].tensor, named_state(before)[2].tensor) > 1e-3);
}

TEST_CASE("a constant that minimizes the quantile loss is the quantile") {
  const Tensor values = reshape(cast(arange(101), Dtype::f32), {101, 1});
  Tensor guess = full({1}, 50.0).set_trainable();
  SGD optimizer({guess}, {.lr = 20});
  for (int64_t step = 0; step < 300; ++step) {
    Tape tape;
    tape.backward(quantile_loss(broadcast_to(guess, {101, 1}), values, 0.9));
    optimizer.step();
  }
  CHECK(guess.item() == doctest::Approx(90).epsilon(0.01));  // a step is at most 20 / 101
  CHECK_THROWS_WITH(quantile_loss(zeros({2}), zeros({3}), 0.5),
                    "quantile_loss: wanted a target of [2], got [3]");
}

TEST_CASE("two optimizers train all parameters") {
  const Rng rng(1);
  Sequential model = small_net(rng.split("net")), before = small_net(rng.split("net"));
  CHECK(train_with_two(model, rng, 200) < loss_of(before, rng) / 2);
  for (size_t i = 0; i < 4; ++i)
    CHECK(apart(named_state(model)[i].tensor, named_state(before)[i].tensor) > 1e-3);
}

TEST_CASE("a data set of one's own goes through a loader") {
  const Squares squares;
  double sum = 0;
  for (auto [x, y] : Loader(squares, {.batch_size = 7}, Rng(1)).epoch(0)) {
    CHECK(apart(y, square(x)) < 1e-7);  // rounding to f32
    sum += isobar::sum(x).item();
  }
  CHECK(sum == doctest::Approx(49.5));
}

TEST_CASE("numpy reads the tensors of a file") {
  std::string python;
  for (const std::string candidate : {PYTHON, "/usr/bin/python3"})
    if (python.empty() && std::system((candidate + " -c 'import numpy' 2>/dev/null").c_str()) == 0)
      python = candidate;
  if (python.empty()) {
    MESSAGE("skipped: no python3 with numpy");
    return;
  }
  Sequential model = small_net(Rng(1));
  save_safetensors("model.safetensors", named_state(model), {{"step", "1"}});
  REQUIRE(std::system((python + " " READ_MODEL " model.safetensors >read.txt").c_str()) == 0);
  std::ifstream file("read.txt");
  size_t read = 0;
  for (std::string line; std::getline(file, line); ++read) {
    double wanted = NAN;  // of the tensor that the line names
    for (const NamedTensor& entry : named_state(model)) {
      if (!line.starts_with(entry.name + " (")) continue;
      wanted = 0;
      for (const double w : entry.tensor.to_vector<double>()) wanted += w;
    }
    CHECK(std::stod(line.substr(line.rfind(' '))) == doctest::Approx(wanted).epsilon(1e-12));
  }
  CHECK(read == 4);
}
