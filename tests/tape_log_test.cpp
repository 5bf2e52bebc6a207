#include "../autograd/tape_log.h"

#include <doctest/doctest.h>

#include "../autograd/ops.h"
#include "../autograd/recording.h"

namespace isobar::tape_log_test {

TEST_CASE("a log has a line per op forward and a line per op backward, with shapes and norms") {
  const Tensor w = ones({2, 3}).set_trainable();
  const TapeLog log;
  Tape tape;
  Tensor h;
  {
    const Scope scope(Scope::intern("fc1"));
    h = linear(ones({4, 3}), w);
  }
  tape.backward(sum(relu(h)));
  CHECK(log.text() ==
        "forward\n"
        "     %1  linear         (constant [4, 3], %0 [2, 3], none) -> [4, 2], norm 8.485, in fc1\n"
        "     %2  relu           (%1 [4, 2]) -> [4, 2], norm 8.485\n"
        "     %3  sum            (%2 [4, 2]) -> [1, 1], norm 24\n"
        "     %4  reshape        (%3 [1, 1]) -> [], norm 24\n"
        "backward\n"
        "     %4  reshape        dy [], norm 1 -> %3 norm 1\n"
        "     %3  sum            dy [1, 1], norm 1 -> %2 norm 2.828\n"
        "     %2  relu           dy [4, 2], norm 2.828 -> %1 norm 2.828\n"
        "     %1  linear         dy [4, 2], norm 2.828 -> %0 norm 9.798, in fc1\n");
  CHECK(log.missing_gradients({{"weight", w}}).empty());
}

TEST_CASE("a log sees nothing when it has ended, and the outer one nothing of an inner one's time") {
  const Tensor w = ones({2}).set_trainable();
  const TapeLog outer;
  {
    const TapeLog inner;
    Tape tape;
    sum(w);
    CHECK(inner.text().find("sum") != std::string::npos);
  }
  CHECK(outer.text() == "forward\nbackward\n");
  CHECK(recording.log == &outer);
}

TEST_CASE("a parameter without a gradient is named, with the reason") {
  const Tensor used = ones({2}).set_trainable(), unused = ones({2}).set_trainable(),
               dropped = ones({2}).set_trainable(), lost = ones({2}).set_trainable(),
               dead = ones({2}).set_trainable(), frozen = ones({2});
  const TapeLog log;
  Tape tape;
  Tensor h;
  {
    const Scope scope(Scope::intern("head"));
    h = square(dropped);
  }
  const Tensor y =
      record("my_op", (lost.detach() + 1).detach(), {lost}, [](const Tensor&) { return Tensor(); });
  const Tensor zero = relu(dead * -1);
  tape.backward(sum(used * y + zero));
  CHECK(log.missing_gradients({{"used", used},
                               {"unused", unused},
                               {"dropped", dropped},
                               {"lost", lost},
                               {"dead", dead},
                               {"frozen", frozen}}) ==
        "unused [2]: no gradient: no recorded op used it: does forward leave it out, or read it through "
        "detach(), "
        "data() or to_vector()?\n"
        "dropped [2]: no gradient: square (%1) in head used it, but the loss does not depend on the result: "
        "is that "
        "dropped or detached?\n"
        "lost [2]: no gradient: the backward of my_op (%3) returned none for it\n"
        "dead [2]: no gradient: its gradient is zero: multiply (%5) gave only zeros (a factor of zero, or "
        "units that are "
        "off)\n"
        "frozen [2]: no gradient: it is frozen; set_trainable() makes it a parameter\n");
}

}  // namespace isobar::tape_log_test
