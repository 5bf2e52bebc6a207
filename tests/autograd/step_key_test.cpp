// The key of a step's random masks: a second step of the same key would repeat them, and is refused.
#include <doctest/doctest.h>

#include "../../core/parallel.h"
#include "../../nn/dropout.h"
#include "../../nn/linear.h"
#include "../../nn/pieces.h"
#include "../../nn/sequential.h"
#include "../../optim/optim.h"
#include "../message_of.h"
#include "../small_tensors.h"

namespace isobar::step_key_test {

// A net with dropout, and steps of its training.
struct Dropping {
  Sequential net{Linear(3, 8, Rng(1)), Dropout(0.5), Linear(8, 1, Rng(2))};
  const Tensor x = Rng(3).normal({4, 3});
  SGD optimizer{parameters(net), {.lr = 0.1}};

  void backward(const Rng& rng) {
    Tape tape({.rng = rng});
    tape.backward(mean(square(net(x))));
  }
  void step(const Rng& rng) {
    backward(rng);
    optimizer.step();
  }
  void step_in_pieces(const Rng& rng) {
    backward_in_pieces(net, 3, [this](int64_t) { return mean(square(net(x))); }, {.rng = rng});
    optimizer.step();
  }
};

const Rng masks = Rng(7).split("dropout");

const std::string same_key = fmt::format(
    "backward: this tape's rng has the key {:#x}, as the tape of the step before it, and SGD's step has moved the "
    "weights since: dropout would draw the same masks in every step; open the tape as Tape tape({{.rng = "
    "rng.split(step)}})",
    masks.key());

TEST_CASE("two steps of one key are refused, in pieces too, and the key is named") {
  Dropping training;
  training.step(masks);
  CHECK(message_of([&] { training.step(masks); }) == same_key);
  for (const Tensor& parameter : parameters(training.net)) CHECK(!parameter.grad().defined());
  for (const int threads : {1, 3}) {
    const WithThreads some(threads);
    Dropping in_pieces;
    in_pieces.step_in_pieces(masks);
    CHECK(message_of([&] { in_pieces.step_in_pieces(masks); }) == same_key);
  }
}

TEST_CASE("steps on one long tape may have its key, which counts the draws") {
  Dropping training, other;
  Tape tape({.rng = masks});
  std::vector<std::vector<float>> seen;
  for (int i = 0; i < 3; ++i) {
    seen.push_back(training.net(training.x).to_vector<float>());
    for (Dropping* each : {&training, &other}) {
      tape.backward(mean(square(each->net(each->x))));
      each->optimizer.step();
    }
  }
  CHECK(seen[0] != seen[1]);
}

TEST_CASE("two players that take turns have a key for each step") {
  Dropping first, second;
  const Rng of_second = masks.split("second");
  first.step(masks), second.step(of_second);
  CHECK(message_of([&] { first.step(masks); }) == same_key);
  CHECK(!message_of([&] { second.step(of_second); }).empty());
}

TEST_CASE("one key may serve again: for another run, an accumulated step, a step that is taken back") {
  for (int run = 0; run < 2; ++run) {
    Dropping training;
    for (uint64_t step = 0; step < 3; ++step) training.step(masks.split(step));
  }
  Dropping training, saved;
  for (int i = 0; i < 3; ++i) training.backward(masks);  // nothing has moved
  training.optimizer.step();
  copy_state(saved.net, training.net);  // back to step 0, and the same steps again
  for (uint64_t step = 0; step < 3; ++step) training.step(masks.split(step));
  copy_state(saved.net, training.net);
  for (uint64_t step = 0; step < 3; ++step) training.step(masks.split(step));
  copy_state(saved.net, training.net);
  training.step(masks.split(2));
  for (uint64_t step = 0; step < 3; ++step) {  // the same masks for every look at a training
    training.backward(masks);
    clear_gradients(parameters(training.net));
    training.step_in_pieces(masks.split(step));
  }
  eval(training.net);  // draws nothing
  training.step(masks);
  training.step(masks);
}

}  // namespace isobar::step_key_test
