// Weights that are frozen and thawed: between steps, in the middle of one, in stages, and in turns of two
// players.
#include <doctest/doctest.h>

#include "../../autograd/tape.h"
#include "../../nn/activation.h"
#include "../../nn/linear.h"
#include "../../nn/sequential.h"
#include "../../optim/optim.h"
#include "../small_tensors.h"
#include "../values_of.h"

namespace isobar::freezing_test {

struct Net {
  Linear in{3, 8, Rng(1)}, out{8, 1, Rng(2)};
  const Tensor x = Rng(3).normal({32, 3}), y = Rng(4).normal({32, 1});

  Tensor loss() { return mean(square(out(gelu(in(x))) - y)); }
  std::vector<Tensor> all() { return {in.weight, in.bias, out.weight, out.bias}; }
};

TEST_CASE("a parameter may be frozen between steps and after forward, and thawed; the others get theirs") {
  Tensor w = leaf(number(2));
  const Tensor x = leaf(number(3));
  for (const bool late : {false, true})
    for (const bool frozen : {false, true, false}) {
      w.clear_grad(), x.clear_grad();
      if (!late) w.set_trainable(!frozen);
      Tape tape;
      const Tensor y = w * x;
      if (late) w.set_trainable(!frozen);
      tape.backward(y);
      CHECK(x.grad().item() == 2);
      CHECK(w.grad().defined() == !frozen);
      w.set_trainable();
    }
}

TEST_CASE("weights frozen between two forwards on one tape count as constants in the second") {
  Tensor w = leaf(number(2));
  const Tensor x = leaf(number(3));
  Tape tape;
  const Tensor first = w * x;
  w.set_trainable(false);
  const Tensor second = square(w) * x;
  w.set_trainable();
  tape.backward(first + second);
  CHECK(w.grad().item() == 3);
  CHECK(x.grad().item() == 2 + 4);
}

TEST_CASE("fine-tuning in stages: the loss falls in each, and what is frozen stays") {
  Net net;
  AdamW optimizer(net.all(), {.lr = 0.01});
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
  const auto first_in = values_of(net.in);
  train(false, true);
  CHECK(values_of(net.in) == first_in);
  const auto second_out = values_of(net.out);
  train(true, false);
  CHECK(values_of(net.out) == second_out);
  train(true, true);
  CHECK(values_of(net.in) != first_in);
  CHECK(values_of(net.out) != second_out);
}

TEST_CASE("a game of two players: each moves in its own step only") {
  Sequential generator(Linear(2, 8, Rng(1)), GELU(), Linear(8, 2, Rng(2)));
  Sequential critic(Linear(2, 8, Rng(3)), GELU(), Linear(8, 1, Rng(4)));
  AdamW generator_step(parameters(generator), {.lr = 1e-2}), critic_step(parameters(critic), {.lr = 1e-2});
  for (uint64_t i = 0; i < 50; ++i) {
    CAPTURE(i);
    const Tensor noise = Rng(5).split(i).normal({16, 2}), real = Rng(6).split(i).normal({16, 2}, 3, 1);
    const auto g = values_of(generator), c = values_of(critic);
    {
      Tape tape;  // the critic tells real from generated points, which it sees as constants
      const Tensor fake = generator(noise).detach();
      tape.backward(mean(square(critic(real) - 1)) + mean(square(critic(fake))));
      CHECK(critic_step.step() == 4);
    }
    CHECK(values_of(generator) == g);
    CHECK(values_of(critic) != c);
    const auto moved = values_of(critic);
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
  const auto normal = [](uint64_t seed, const Shape& shape) {
    return Rng(seed).normal(shape, 0, 1, Dtype::f64);
  };
  const Tensor x = normal(1, {4, 3}), v = leaf(normal(3, {3, 3}));
  Tensor w = leaf(normal(2, {3, 3}));
  const auto gradient = [&](const Tensor& used) {
    v.clear_grad();
    Tape tape;
    tape.backward(sum(tanh(matmul(tanh(matmul(x, v)), used))));
    CHECK_FALSE(w.grad().defined());
    return v.grad().to_vector<double>();
  };
  const Doubles by_detach = gradient(w.detach());
  w.set_trainable(false);
  CHECK(gradient(w) == by_detach);
}

}  // namespace isobar::freezing_test
