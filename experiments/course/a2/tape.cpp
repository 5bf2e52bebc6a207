// A page of your own gradients: a product with broadcasting, a matrix product and a softmax, recorded on the
// library's tape with what you have written. Change the shapes as you like.
//
//   cmake --build build --target tape && build/tape      # after ./check; writes tape.html, for a browser
#include <isobar/autograd/check/tape_page.h>
#include <isobar/autograd/ops.h>

#include <array>
#include <cstdio>

#include "a2.h"

using isobar::record, isobar::Tape, isobar::TapeTrace;

namespace {

// dy → (da, db), as the tape wants them.
template <class Backward>
auto pair_of(const Tensor& a, const Tensor& b, const Backward& backward) {
  return [=](const Tensor& dy) {
    const Two found = backward(dy, a, b);
    return std::array{found.da, found.db};
  };
}

Tensor your_multiply(const Tensor& a, const Tensor& b) {
  const isobar::NoTape pause;
  return isobar::multiply(a, b);
}

Tensor loss_of(const Tensor& x, const Tensor& s, const Tensor& w) {
  const Tensor h = record("your multiply", your_multiply(x, s), {x, s}, pair_of(x, s, multiply_backward));
  const Tensor z = record("your matmul", ::matmul(h, w), {h, w}, pair_of(h, w, matmul_backward));
  const Tensor y = ::softmax(z);
  const auto backward = [y](const Tensor& dy) { return softmax_backward(dy, y); };
  const Tensor p = record("your softmax", y, {z}, backward);
  return isobar::sum(isobar::square(p));
}

}  // namespace

int main() try {
  const Tensor x = isobar::tensor({2, 2}, std::vector{1.0, 2.0, 3.0, 4.0}).set_trainable();
  const Tensor s = isobar::tensor({1, 2}, std::vector{1.0, -1.0}).set_trainable();
  const Tensor w = isobar::tensor({2, 3}, std::vector{1.0, 0.0, 2.0, 0.0, 1.0, 1.0}).set_trainable();
  const TapeTrace trace;
  Tape tape;
  tape.backward(loss_of(x, s, w));
  isobar::tape_page(trace, "tape.html", {{"x", x}, {"s", s}, {"w", w}});
} catch (const std::exception& error) {
  std::fprintf(stderr, "tape: %s\n", error.what());
  return 1;
}
