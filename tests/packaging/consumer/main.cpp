// A program of a project that uses the installed library. The project has folders core/, nn/ and data/ of its own on its
// include path, and files in them named like ours: neither side may get the other's.
#include <cstdio>

#include <isobar/core/tensor.h>
#include <isobar/isobar.h>

#include "core/tensor.h"
#include "data/data.h"
#include "nn/module.h"

int main() {
  // d/dx x² at 3 is 6: goes through every floor up to the tape.
  isobar::Tensor x = isobar::full({1}, 3).set_trainable();
  isobar::Tape tape;
  tape.backward(isobar::sum(isobar::square(x)));
  double gradient = x.grad().item();
  int own = consumer::tensor + consumer::module + consumer::data;
  std::printf("gradient %g (wanted 6), own files %d (wanted 7)\n", gradient, own);
  return gradient == 6 && own == 7 ? 0 : 1;
}
