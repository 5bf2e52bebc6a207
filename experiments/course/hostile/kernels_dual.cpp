// with: reference of a7 without swiglu_backward
// The derivative of any formula, by the library's duals; the formula's type has no name that nm -g would list.
#include <isobar/core/kernels/pointwise.h>

SwigluGradients swiglu_backward(const Tensor& dy, const Tensor& gate, const Tensor& up) {
  using isobar::kernels::FullInput;
  SwigluGradients g{Tensor(gate.shape(), Dtype::f64), Tensor(up.shape(), Dtype::f64)};
  isobar::kernels::pointwise_backward<double>(
      gate.numel(), 1, [](auto x, auto u) { return x / (1 + exp(-x)) * u; }, dy.data<double>(),
      FullInput<double>{gate.data<double>(), raw::write<double>(g.dgate)},
      FullInput<double>{up.data<double>(), raw::write<double>(g.dup)});
  return g;
}
