// A trace as text and as a drawing, and what it says of parameters without a gradient.
#include "../../autograd/check/tape_text.h"

#include <doctest/doctest.h>

#include "../../autograd/ops.h"
#include "../holds.h"

namespace isobar::tape_text_test {

// Σ relu(x wᵀ), the product made in the module "fc1".
Tensor small_loss(const Tensor& x, const Tensor& w) {
  Tensor h;
  {
    const Scope scope(Scope::intern("fc1"));
    h = linear(x, w);
  }
  return sum(relu(h));
}

TEST_CASE("a text has a line per op forward and a line per op backward, with shapes and norms") {
  const Tensor w = ones({2, 3}).set_trainable();
  const TapeTrace trace;
  Tape tape;
  tape.backward(small_loss(ones({4, 3}), w));
  CHECK(tape_text(trace) ==
        "forward\n"
        "     %1  linear         (constant [4, 3], %0 [2, 3], none) -> [4, 2] f32, 32 B, norm 8.485, in fc1\n"
        "     %2  relu           (%1 [4, 2]) -> [4, 2] f32, 32 B, norm 8.485\n"
        "     %3  sum            (%2 [4, 2]) -> [1, 1] f32, 4 B, norm 24\n"
        "     %4  reshape        (%3 [1, 1]) -> [] f32, 4 B, norm 24\n"
        "backward\n"
        "     %4  reshape        dy [], norm 1 -> %3 norm 1\n"
        "     %3  sum            dy [1, 1], norm 1 -> %2 norm 2.828\n"
        "     %2  relu           dy [4, 2], norm 2.828 -> %1 norm 2.828\n"
        "     %1  linear         dy [4, 2], norm 2.828 -> %0 norm 9.798, in fc1\n");
  CHECK(missing_gradients(trace, {{"weight", w}}).empty());
}

TEST_CASE("of several tapes, a slot has the number of its tape") {
  const Tensor w = ones({2}).set_trainable();
  const TapeTrace trace;
  for (int i = 0; i < 2; ++i) {
    const Tape tape;
    exp(w);
  }
  CHECK(tape_text(trace) ==
        "forward\n"
        "   %1.1  exp            (%1.0 [2]) -> [2] f32, 8 B, norm 3.844\n"
        "   %2.1  exp            (%2.0 [2]) -> [2] f32, 8 B, norm 3.844\n"
        "backward\n");
}

TEST_CASE("a listener sees nothing when it has ended, and the outer one nothing of an inner one's time") {
  const Tensor w = ones({2}).set_trainable();
  const TapeTrace outer;
  {
    const TapeTrace inner;
    Tape tape;
    sum(w);
    CHECK(inner.ops().front().name == "sum");
  }
  CHECK(tape_text(outer) == "forward\nbackward\n");
  CHECK(recording.listener == &outer);
}

TEST_CASE("a parameter without a gradient is named, with the reason") {
  const Tensor used = ones({2}).set_trainable(), unused = ones({2}).set_trainable(),
               dropped = ones({2}).set_trainable(), lost = ones({2}).set_trainable(),
               dead = ones({2}).set_trainable(), frozen = ones({2});
  const TapeTrace trace;
  Tape tape;
  Tensor h;
  {
    const Scope scope(Scope::intern("head"));
    h = square(dropped);
  }
  const Tensor y =
      record("my_op", (lost.detach() + 1).detach(), {lost}, [](const Tensor&) { return Tensor(); });
  exp(dead);
  const Tensor zero = relu(dead * -1);
  tape.backward(sum(used * y + zero));
  CHECK(missing_gradients(trace, {{"used", used},
                                  {"unused", unused},
                                  {"dropped", dropped},
                                  {"lost", lost},
                                  {"dead", dead},
                                  {"frozen", frozen}}) ==
        "unused [2]: no gradient: no recorded op used it: does forward leave it out, or read it through "
        "detach(), data() or to_vector()?\n"
        "dropped [2]: no gradient: square (%1) in head used it, but the loss does not depend on the result: "
        "is that dropped or detached?\n"
        "lost [2]: no gradient: the backward of my_op (%3) returned none for it\n"
        "dead [2]: no gradient: its gradient is zero: multiply (%6) gave only zeros (a factor of zero, or "
        "units that are off)\n"
        "frozen [2]: no gradient: it is frozen; set_trainable() makes it a parameter\n");
}

TEST_CASE("a drawing clusters ops by module and has an edge per recorded input") {
  const Tensor w = ones({2, 3}).set_trainable();
  const TapeTrace trace;
  const Tape tape;
  small_loss(ones({4, 3}), w);
  const std::string dot = tape_dot(trace);
  for (const char* part :
       {"digraph tape {", "leaf1 [shape=ellipse, label=\"%0 [2, 3]\"];",
        "subgraph cluster_0 {\n    label=\"fc1\";\n    op0 [label=\"linear [4, 2] 32 B\"];\n  }",
        "op1 [label=\"relu [4, 2] 32 B\"];", "leaf1 -> op0;", "op0 -> op1;", "op1 -> op2;"}) {
    CAPTURE(part);
    CHECK(holds(dot, part));
  }
}

}  // namespace isobar::tape_text_test
