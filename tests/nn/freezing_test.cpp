// Weights that are frozen and thawed: between steps, in the middle of one, and in stages.
#include <doctest/doctest.h>

#include "../../autograd/tape.h"
#include "../../nn/linear.h"
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

}  // namespace isobar::freezing_test
