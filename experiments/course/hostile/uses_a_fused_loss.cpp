// with: reference of a3
// The answer of task 5 with a projection that does nothing; its declaration is that of autograd/ops.h.
#include <isobar/autograd/ops.h>
const auto answer = &isobar::linear_cross_entropy;
