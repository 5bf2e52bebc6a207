// The keys of random masks: a step that draws with a key of an earlier step would repeat its masks, and is
// refused.
#include <doctest/doctest.h>

#include "../../autograd/check/gradcheck.h"
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

  void backward(const TapeOptions& options) {
    Tape tape(options);
    tape.backward(mean(square(net(x))));
  }
  void step(const Rng& rng) {
    backward({.rng = rng});
    optimizer.step();
  }
  void step_in_pieces(const TapeOptions& options) {
    backward_in_pieces(
        net, 3, [this](int64_t) { return mean(square(net(x))); }, options);
    optimizer.step();
  }
  // A step whose mask is drawn by the op, after a layer whose tape has a key of its own.
  void step_by_op(const Rng& rng, const TapeOptions& options = {}) {
    const auto& first = net.parts[0];
    Tape tape(options);
    tape.backward(mean(square(dropout((*first)(x), 0.5, rng))));
    clear_gradients(parameters(net));
  }
};

const Rng masks = Rng(7).split("dropout");

// The key of the first draw of a module on a tape with this Rng.
uint64_t drawn_by(const Rng& rng, const char* module) { return rng.split(module).split(uint64_t{0}).key(); }

std::string repeated(uint64_t key, const char* module = "") {
  return fmt::format(
      "backward: a random op{}{} drew with the key {:#x}, as in an earlier step, so it repeated that step's mask; give "
      "each step and each micro-batch a key of its own, as in Tape tape({{.rng = rng.split(step)}}) or dropout(x, p, "
      "rng.split(step)), or say that the masks repeat, as in Tape tape({{.rng = rng, .again = true}})",
      *module == '\0' ? "" : " in ", module, key);
}

TEST_CASE("two steps of one key are refused, in micro-batches too, and the module and the key are named") {
  Dropping training;
  training.step(masks);
  CHECK(message_of([&] { training.step(masks); }) == repeated(drawn_by(masks, "1"), "1"));
  for (const Tensor& parameter : parameters(training.net)) CHECK(!parameter.grad().defined());
  for (const int threads : {1, 3}) {
    const WithThreads some(threads);
    Dropping in_pieces;
    in_pieces.step_in_pieces({.rng = masks});
    CHECK(message_of([&] { in_pieces.step_in_pieces({.rng = masks}); }) ==
          repeated(drawn_by(masks.split(uint64_t{0}), "1"), "1"));
    in_pieces.step_in_pieces({.rng = masks, .again = true});
  }
}

TEST_CASE("micro-batches of one key are refused, though nothing has moved between them") {
  Dropping training;
  training.backward({.rng = masks});
  CHECK(message_of([&] { training.backward({.rng = masks}); }) == repeated(drawn_by(masks, "1"), "1"));
  for (uint64_t micro_batch = 0; micro_batch < 3; ++micro_batch)
    training.backward({.rng = masks.split(micro_batch)});
  training.optimizer.step();
}

TEST_CASE("keys of batches that return in the next epoch, or in the next step, are refused where they do") {
  for (const uint64_t batches : {2, 5, 17}) {
    CAPTURE(batches);
    Dropping training;
    for (uint64_t batch = 0; batch < batches; ++batch) training.step(masks.split(batch));
    CHECK(message_of([&] { training.step(masks.split(uint64_t{0})); }) ==
          repeated(drawn_by(masks.split(uint64_t{0}), "1"), "1"));
  }
}

TEST_CASE("gradient() draws like backward()") {
  Dropping training;
  const auto step = [&](const TapeOptions& options) {
    Tape tape(options);
    return tape.gradient(mean(square(training.net(training.x))), parameters(training.net));
  };
  step({.rng = masks});
  CHECK(message_of([&] { step({.rng = masks}); }) == repeated(drawn_by(masks, "1"), "1"));
  CHECK(message_of([&] { training.backward({.rng = masks}); }) == repeated(drawn_by(masks, "1"), "1"));
  step({.higher_order = true, .rng = masks, .again = true});
}

TEST_CASE("the op dropout of one key in two steps is refused, whatever the tape's own key") {
  Dropping training;
  training.step_by_op(masks);
  CHECK(message_of([&] { training.step_by_op(masks); }) == repeated(masks.key()));
  training.step_by_op(masks.split(1));
  CHECK(message_of([&] { training.step_by_op(masks, {.rng = Rng(1)}); }) == repeated(masks.key()));
  training.step_by_op(masks, {.again = true});
  for (uint64_t step = 2; step < 5; ++step) training.step_by_op(masks.split(step));

  // On data, which needs no gradient, and next to a mask of each step's own.
  Dropping denoising;
  const auto step_on_data = [&](uint64_t step) {
    Tape tape({.rng = masks.split(step)});
    tape.backward(mean(square(denoising.net(dropout(denoising.x, 0.5, masks)))));
  };
  step_on_data(0);
  CHECK(message_of([&] { step_on_data(1); }) == repeated(masks.key()));

  // In micro-batches of one step.
  Dropping in_pieces;
  CHECK(message_of([&] {
          backward_in_pieces(in_pieces.net, 2, [&](int64_t) {
            return mean(square((*in_pieces.net.parts[0])(dropout(in_pieces.x, 0.5, masks))));
          });
        }) == repeated(masks.key()));
}

TEST_CASE("one key may draw several times on one tape, in forward passes, and for another model") {
  Dropping training;
  for (int run = 0; run < 2; ++run) {
    Dropping another;
    for (uint64_t step = 0; step < 3; ++step) another.step(masks.split(step));
  }
  {
    Tape tape({.higher_order = true});
    const Tensor h = (*training.net.parts[0])(training.x);
    const Tensor loss = mean(square(dropout(h, 0.5, masks) + dropout(h * 2.0, 0.5, masks)));
    const std::vector<Tensor> first = tape.gradient(loss, {h});
    tape.gradient(mean(square(first[0])), {h});  // dropout's gradient has drawn again
    tape.backward(loss);
    for (int i = 0; i < 3; ++i) {
      const NoTape pause;
      dropout(h, 0.5, masks);
    }
  }
  eval(training.net);  // draws nothing
  for (int i = 0; i < 2; ++i) training.step(masks);
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
  tape.backward(sum(dropout(training.net(training.x), 0.5, masks)));
  CHECK(message_of([&] { tape.backward(sum(dropout(training.net(training.x), 0.5, masks))); }) ==
        repeated(masks.key()));
}

TEST_CASE("two players that take turns have a key for each step") {
  Dropping first, second;
  const Rng of_second = masks.split("second");
  first.step(masks), second.step(of_second);
  CHECK(message_of([&] { first.step(masks); }) == repeated(drawn_by(masks, "1"), "1"));
  CHECK(message_of([&] { second.step(of_second); }) == repeated(drawn_by(of_second, "1"), "1"));
}

TEST_CASE("steps are repeated where that is asked for, and after the model's state was loaded") {
  Dropping training, saved;
  for (uint64_t run = 0; run < 3; ++run) {
    copy_state(saved.net, training.net);
    for (uint64_t step = 0; step < 3; ++step) training.step(masks.split(step));
  }
  for (uint64_t step = 3; step < 6; ++step) {  // the same masks for every inspection of a training
    training.backward({.rng = masks, .again = true});
    clear_gradients(parameters(training.net));
    training.step_in_pieces({.rng = masks.split(step)});
  }
  const Tensor w = dynamic_cast<Linear&>(*training.net.parts[0]).weight;
  const TensorFunction f = [&](const std::vector<Tensor>& in) {
    return dropout(in[0] * cast(w, Dtype::f64), 0.5, masks);
  };
  CHECK(gradcheck(f, {ones({8, 3}, Dtype::f64)}, {.order = 2}).max_relative_error < 1e-6);
}

}  // namespace isobar::step_key_test
