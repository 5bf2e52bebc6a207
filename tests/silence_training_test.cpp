// Training in stages, of two players, and on one long tape: what must neither throw nor go wrong in silence.
#include <doctest/doctest.h>

#include <cmath>
#include <memory>
#include <optional>

#include "../autograd/ops.h"
#include "../autograd/tape.h"
#include "../core/memory.h"
#include "../core/parallel.h"
#include "../core/rng.h"
#include "../nn/activation.h"
#include "../nn/attention.h"
#include "../nn/dropout.h"
#include "../nn/linear.h"
#include "../nn/model.h"
#include "../nn/pieces.h"
#include "../nn/sequential.h"
#include "../optim/optim.h"
#include "message_of.h"

namespace isobar::silence_training_test {

namespace {

using Numbers = std::vector<double>;

Tensor number(double value) { return full({}, value, Dtype::f64); }

// All parameters of the model, joined.
Numbers values_of(HasFields& model) {
  Numbers all;
  for (const NamedTensor& entry : named_state(model)) {
    const Numbers values = entry.tensor.to_vector<double>();
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

struct Net {
  Linear in{3, 8, Rng(1)}, out{8, 1, Rng(2)};
  const Tensor x = Rng(3).normal({32, 3}), y = Rng(4).normal({32, 1});

  Tensor loss() { return mean(square(out(gelu(in(x))) - y)); }
};

}  // namespace

TEST_CASE("parameters are frozen after training, and thawed again") {
  Net net;
  SGD optimizer({net.in.weight, net.in.bias, net.out.weight, net.out.bias}, {.lr = 0.1});
  const auto step = [&] {
    Tape tape;
    tape.backward(net.loss());
    const std::vector<bool> reached = {net.in.weight.grad().defined(), net.in.bias.grad().defined(),
                                       net.out.weight.grad().defined()};
    const int64_t moved = optimizer.step();
    return std::pair(moved, reached);
  };
  CHECK(step() == std::pair(int64_t{4}, std::vector<bool>{true, true, true}));
  net.in.weight.set_trainable(false);
  net.out.weight.set_trainable(false);
  const std::vector<float> frozen = net.in.weight.to_vector<float>(), bias = net.in.bias.to_vector<float>();
  for (int i = 0; i < 3; ++i) CHECK(step() == std::pair(int64_t{2}, std::vector<bool>{false, true, false}));
  CHECK(net.in.weight.to_vector<float>() == frozen);
  CHECK(net.in.bias.to_vector<float>() != bias);
  net.in.weight.set_trainable();
  net.out.weight.set_trainable();
  CHECK(step() == std::pair(int64_t{4}, std::vector<bool>{true, true, true}));
  CHECK(net.in.weight.to_vector<float>() != frozen);
}

TEST_CASE("a parameter frozen between forward and backward gets no gradient, and the others get theirs") {
  const Tensor w = number(3).set_trainable();
  Tensor v = number(2).set_trainable();
  Tape tape;
  const Tensor loss = w * v;
  v.set_trainable(false);
  tape.backward(loss);
  CHECK(w.grad().item() == 2);
  CHECK_FALSE(v.grad().defined());
}

TEST_CASE("fine-tuning in stages: the loss falls in each, and what is frozen stays") {
  Net net;
  AdamW optimizer({net.in.weight, net.in.bias, net.out.weight, net.out.bias}, {.lr = 0.01});
  const auto train = [&](bool in, bool out) {
    in ? thaw(net.in) : freeze(net.in);
    out ? thaw(net.out) : freeze(net.out);
    const double before = net.loss().item();
    for (int i = 0; i < 30; ++i) {
      Tape tape;
      tape.backward(net.loss());
      CHECK(optimizer.step() == 2 * (int{in} + int{out}));
    }
    CHECK(net.loss().item() < 0.97 * before);
  };
  const Numbers first_in = values_of(net.in);
  train(false, true);
  CHECK(values_of(net.in) == first_in);
  const Numbers second_out = values_of(net.out);
  train(true, false);
  CHECK(values_of(net.out) == second_out);
  train(true, true);
  CHECK(values_of(net.in) != first_in);
  CHECK(values_of(net.out) != second_out);
}

TEST_CASE("weights copied into the model between forward and backward are refused") {
  Linear layer(2, 1, Rng(1)), other(2, 1, Rng(2));
  const Tensor x = ones({1, 2}).set_trainable();
  Tape tape;
  const Tensor loss = mean(layer(x));
  copy_state(other, layer);
  CHECK(message_of([&] { tape.backward(loss); }) ==
        "backward: input 1 [1, 2] of linear was overwritten by assign() after it was recorded; call backward "
        "before step()");
}

TEST_CASE("attention sees later keys unless it is causal, as an op and as a module") {
  const Tensor x = Rng(1).normal({1, 5, 4}), later = concat({slice(x, 1, 0, 4), ones({1, 1, 4})}, 1);
  const auto first_row = [](const Tensor& y) { return slice(y, 1, 0, 1).to_vector<float>(); };
  const auto heads = [](const Tensor& t) { return reshape(t, {1, 5, 2, 2}); };
  const auto op = [&](const Tensor& t, AttentionOptions options) {
    return first_row(attention(heads(x), heads(t), heads(t), options));
  };
  CHECK(op(x, {}) != op(later, {}));
  CHECK(op(x, {.causal = true}) == op(later, {.causal = true}));
  MultiheadAttention open(4, 2, Rng(2)), causal(4, 2, Rng(2), {.causal = true});
  CHECK(first_row(open(x)) != first_row(open(later)));
  CHECK(first_row(causal(x)) == first_row(causal(later)));
}

TEST_CASE("a game of two players: each moves in its own step only") {
  Sequential generator(Linear(2, 8, Rng(1)), GELU(), Linear(8, 2, Rng(2)));
  Sequential critic(Linear(2, 8, Rng(3)), GELU(), Linear(8, 1, Rng(4)));
  AdamW generator_step(parameters(generator), {.lr = 1e-2}), critic_step(parameters(critic), {.lr = 1e-2});
  for (uint64_t i = 0; i < 50; ++i) {
    CAPTURE(i);
    const Tensor noise = Rng(5).split(i).normal({16, 2}), real = Rng(6).split(i).normal({16, 2}, 3, 1);
    const Numbers g = values_of(generator), c = values_of(critic);
    {
      Tape tape;  // the critic tells real from generated points, which it sees as constants
      const Tensor fake = generator(noise).detach();
      tape.backward(mean(square(critic(real) - 1)) + mean(square(critic(fake))));
      CHECK(critic_step.step() == 4);
    }
    CHECK(values_of(generator) == g);
    CHECK(values_of(critic) != c);
    const Numbers moved = values_of(critic);
    freeze(critic);
    {
      Tape tape;  // the generator learns through a critic that stays
      tape.backward(mean(square(critic(generator(noise)) - 1)));
      for (const NamedTensor& entry : named_state(critic)) CHECK_FALSE(entry.tensor.grad().defined());
      CHECK(generator_step.step() == 4);
    }
    CHECK(critic_step.step() == 0);  // the frozen side may be stepped: nothing moves
    thaw(critic);
    CHECK(values_of(critic) == moved);
    CHECK(values_of(generator) != g);
  }
}

TEST_CASE("w.detach() keeps a weight out of one loss, with the gradient of a freeze to the bit") {
  const Tensor x = Rng(1).normal({4, 3}, 0, 1, Dtype::f64);
  Tensor w = Rng(2).normal({3, 3}, 0, 1, Dtype::f64).set_trainable();
  const Tensor v = Rng(3).normal({3, 3}, 0, 1, Dtype::f64).set_trainable();
  const auto gradient = [&](const Tensor& used) {
    v.clear_grad();
    Tape tape;
    tape.backward(sum(tanh(matmul(tanh(matmul(x, v)), used))));
    CHECK_FALSE(w.grad().defined());
    return v.grad().to_vector<double>();
  };
  const Numbers by_detach = gradient(w.detach());
  w.set_trainable(false);
  CHECK(gradient(w) == by_detach);
}

TEST_CASE("one tape for 2000 steps costs what fresh tapes cost, to the bit and to the byte") {
  const auto train = [](bool one_tape) {
    Net net;
    SGD optimizer({net.in.weight, net.in.bias, net.out.weight, net.out.bias}, {.lr = 0.01});
    std::optional<Tape> tape;
    if (one_tape) tape.emplace();
    size_t bytes = 0;
    for (int i = 0; i < 2000; ++i) {
      if (!one_tape) tape.emplace();
      tape->backward(net.loss());
      optimizer.step();
      if (!one_tape) tape.reset();
      if (one_tape && !tape->nodes().empty()) FAIL("step ", i, " left ", tape->nodes().size(), " nodes");
      if (i == 10) bytes = memory::stats().bytes_in_use;
      if (i > 10 && memory::stats().bytes_in_use != bytes)
        FAIL("step ", i, " holds more memory than step 10");
    }
    if (one_tape) CHECK(tape->leaves().size() == 4);
    Numbers all = values_of(net.in);
    const Numbers rest = values_of(net.out);
    all.insert(all.end(), rest.begin(), rest.end());
    return all;
  };
  CHECK(train(true) == train(false));
}

TEST_CASE("losses that share nothing are walked in any order, leaves shared or not") {
  const std::vector<std::vector<int>> orders = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                                {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  for (const std::vector<int>& order : orders) {
    CAPTURE(order);
    const Tensor w = number(2).set_trainable(), v = number(3).set_trainable();
    Tape tape;
    const std::vector<Tensor> losses = {w * w * w, exp(v), w * v};
    for (const int i : order) tape.backward(losses[i]);
    CHECK(w.grad().item() == 12 + 3);
    CHECK(v.grad().item() == doctest::Approx(std::exp(3) + 2).epsilon(1e-15));
    CHECK(tape.nodes().empty());
    CHECK(message_of([&] { tape.backward(losses[0]); }).find("already used up by an earlier backward") !=
          std::string::npos);
  }
}

TEST_CASE("tapes on the heap may end in another order than they began") {
  const Tensor w = number(3).set_trainable();
  const auto run = [&] {
    auto a = std::make_unique<Tape>(), b = std::make_unique<Tape>(), c = std::make_unique<Tape>();
    b.reset();
    CHECK(Tape::active() == c.get());
    c->backward(square(w));
    a.reset();
    CHECK(Tape::active() == c.get());
    c->backward(square(w));
    auto d = std::make_unique<Tape>();
    c.reset();
    d->backward(square(w));
    CHECK(Tape::active() == d.get());
    d.reset();
    CHECK(Tape::active() == nullptr);
    CHECK(w.grad().item() == 18);
    w.clear_grad();
  };
  run();
  {
    const NoTape pause;
    run();
  }
  std::unique_ptr<Tape> outer = std::make_unique<Tape>();
  {
    const NoTape pause;
    const auto inner = std::make_unique<Tape>();
    outer.reset();  // the paused one ends first
    inner->backward(square(w));
  }
  CHECK(Tape::active() == nullptr);
  CHECK(w.grad().item() == 6);
}

TEST_CASE("a tape opened under NoTape sees the outer tape's tensors as leaves") {
  const Tensor w = number(2).set_trainable();
  Tape outer;
  const Tensor y = w * w * w;
  double slope = 0;
  {
    const NoTape pause;
    Tape inner;
    const Tensor z = square(y) * w;
    const std::vector<Tensor> gradients = inner.gradient(z, {y, w});
    CHECK(gradients[0].item() == 2 * 8 * 2);  // 2 y w, y being a leaf here
    CHECK(gradients[1].item() == 64);         // y², without the way through y
    slope = gradients[0].item();
  }
  CHECK_FALSE(w.grad().defined());
  outer.backward(y, number(slope));
  CHECK(w.grad().item() == 32 * 3 * 4);
}

namespace {

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

}  // namespace

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

}  // namespace isobar::silence_training_test
