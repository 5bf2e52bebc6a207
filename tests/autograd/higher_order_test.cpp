// Gradients of gradients, on a higher-order tape.
#include <doctest/doctest.h>

#include <cmath>

#include "../../autograd/tape.h"
#include "../small_tensors.h"

namespace isobar::higher_order_test {

TEST_CASE("every derivative of exp is exp") {
  const Tensor x = leaf(number(0.7));
  Tape tape({.higher_order = true});
  Tensor y = exp(x);
  for (int order = 1; order <= 4; ++order) {
    y = tape.gradient(y, {x})[0];
    CHECK(y.item() == doctest::Approx(std::exp(0.7)).epsilon(1e-14));
  }
}

TEST_CASE("a gradient penalty can be trained: backward through a gradient") {
  // y = w x², dy/dx = 2 w x, penalty (2 w x)², its slope by w is 8 w x².
  const Tensor x = leaf(number(3)), w = leaf(number(0.5));
  Tape tape({.higher_order = true});
  const Tensor slope = tape.gradient(w * square(x), {x})[0];
  tape.backward(square(slope));
  CHECK(w.grad().item() == 8 * 0.5 * 9);
}

TEST_CASE("a higher-order tape keeps its nodes") {
  const Tensor x = leaf(number(2));
  Tape tape({.higher_order = true});
  const Tensor y = square(x);
  CHECK(tape.gradient(y, {x})[0].item() == 4);
  CHECK(tape.gradient(y, {x})[0].item() == 4);
  CHECK(tape.nodes().size() == tape.recorded());
}

}  // namespace isobar::higher_order_test
