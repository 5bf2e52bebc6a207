// A bool is no dimension and no order of a norm, and a list is no order: each line is an error.
#include "../../autograd/ops.h"

int main() {
  const isobar::Tensor x = isobar::ones({2, 3});
#if REFUSED == 0
  mean(x, -1), sum(x, {0, 1}, true), sort(x, -1, true), argmax(x, 1, true), norm(x, 2, {-1});  // all right
#elif REFUSED == 1
  mean(x, true);
#elif REFUSED == 2
  mean(x, {-1, true});
#elif REFUSED == 3
  mean(x, {true});
#elif REFUSED == 4
  sort(x, true);
#elif REFUSED == 5
  topk(x, 1, false);
#elif REFUSED == 6
  argmax(x, true);
#elif REFUSED == 7
  norm(x, {-1});
#elif REFUSED == 8
  norm(x, true);
#elif REFUSED == 9
  var(x, 0, 0);
#endif
}
