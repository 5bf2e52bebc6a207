// with: reference of a4
// Gradients that are to be derived by hand.
#include <isobar/autograd/tape.h>
const auto answer =
    static_cast<void (isobar::Tape::*)(const Tensor&, const Tensor&)>(&isobar::Tape::backward);
