// Counts how often a8.cpp asks a tape for gradients: the linker gives it wrap_… for these functions of Tape,
// and us the functions themselves as real_… (more.cmake). A training has as many steps as it was given.
#include <cstdint>

#include <isobar/autograd/autograd.h>

using isobar::Tape;
using isobar::Tensor;
using Tensors = std::vector<Tensor>;
using LeafGradients = std::vector<isobar::LeafGradient>;

void real_backward(Tape*, const Tensor&,
                   const Tensor&) asm("__real__ZN6isobar4Tape8backwardERKNS_6TensorES3_");
void wrap_backward(Tape*, const Tensor&,
                   const Tensor&) asm("__wrap__ZN6isobar4Tape8backwardERKNS_6TensorES3_");
LeafGradients real_leaf_gradients(Tape*, const Tensor&, const Tensor&) asm(
    "__real__ZN6isobar4Tape14leaf_gradientsERKNS_6TensorES3_");
LeafGradients wrap_leaf_gradients(Tape*, const Tensor&, const Tensor&) asm(
    "__wrap__ZN6isobar4Tape14leaf_gradientsERKNS_6TensorES3_");
Tensors real_gradient(Tape*, const Tensor&, const Tensors&, const Tensor&) asm(
    "__real__ZN6isobar4Tape8gradientERKNS_6TensorERKSt6vectorIS1_SaIS1_EES3_");
Tensors wrap_gradient(Tape*, const Tensor&, const Tensors&, const Tensor&) asm(
    "__wrap__ZN6isobar4Tape8gradientERKNS_6TensorERKSt6vectorIS1_SaIS1_EES3_");

static int64_t asked = 0;

// How often gradients were asked for since the program began.
extern "C" int64_t gradients_asked() { return asked; }

void wrap_backward(Tape* tape, const Tensor& y, const Tensor& dy) {
  ++asked;
  real_backward(tape, y, dy);
}
LeafGradients wrap_leaf_gradients(Tape* tape, const Tensor& y, const Tensor& dy) {
  ++asked;
  return real_leaf_gradients(tape, y, dy);
}
Tensors wrap_gradient(Tape* tape, const Tensor& y, const Tensors& xs, const Tensor& dy) {
  ++asked;
  return real_gradient(tape, y, xs, dy);
}
