// with: reference of a3 without relu_backward
// As kernels_dual.cpp, and the compiler is asked to leave no name at all.
#pragma GCC optimize("O3")
#include <isobar/core/kernels/pointwise.h>

[[gnu::flatten]] Tensor relu_backward(const Tensor& dy, const Tensor& x) {
  using namespace isobar::kernels;
  Tensor dx(x.shape(), Dtype::f64);
  const auto f = [](auto v) { return maximum(v, 0); };
  for (int64_t i = 0; i < x.numel(); ++i) {
    const auto y = f(seed<0>(Lane<double>(x.data<double>()[i]), std::index_sequence<0>{}));
    double slopes[8];
    term<0>(Lane<double>(dy.data<double>()[i]), y).v.store_unaligned(slopes);
    raw::write<double>(dx)[i] = slopes[0];
  }
  return dx;
}
