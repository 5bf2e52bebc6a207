// The page of the example: x = 3, a = x · x, b = x + a, loss = a · b, on the library's tape. Change it as you
// like.
//
//   cmake --build build --target tape && build/tape      # after ./check; writes tape.html, for a browser
#include <isobar/autograd/check/tape_page.h>
#include <isobar/autograd/ops.h>

#include <cstdio>

using namespace isobar;

int main() try {
  const Tensor x = full({}, 3, Dtype::f64).set_trainable();
  const TapeTrace trace;
  Tape tape;
  const Tensor a = x * x, b = x + a;
  tape.backward(a * b);
  tape_page(trace, "tape.html", {{"x", x}});
} catch (const std::exception& error) {
  std::fprintf(stderr, "tape: %s\n", error.what());
  return 1;
}
