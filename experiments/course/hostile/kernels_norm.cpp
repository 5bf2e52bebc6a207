// with: reference of a4 without layer_norm_backward rms_norm_backward
// The library's gradient of a norm, a template that leaves no name undefined.
#include <isobar/core/kernels/norm.h>

Gradients by_kernel(const Tensor& dy, const Tensor& x, const Tensor& weight, const Tensor& mean,
                    const Tensor& r) {
  const int64_t rows = x.size(0), width = x.size(1);
  const bool centred = mean.defined();
  Gradients g{Tensor(x.shape(), Dtype::f64), isobar::zeros({width}, Dtype::f64)};
  if (centred) g.dbias = isobar::zeros({width}, Dtype::f64);
  const Tensor none = isobar::zeros({rows}, Dtype::f64);
  isobar::kernels::NormBackward<double>{rows,
                                        width,
                                        width,
                                        centred,
                                        x.data<double>(),
                                        weight.data<double>(),
                                        dy.data<double>(),
                                        (centred ? mean : none).data<double>(),
                                        r.data<double>(),
                                        raw::write<double>(g.dx),
                                        raw::write<double>(g.dweight),
                                        centred ? raw::write<double>(g.dbias) : nullptr}();
  return g;
}
Gradients layer_norm_backward(const Tensor& dy, const Tensor& x, const Tensor& weight,
                              const LayerNorm& saved) {
  return by_kernel(dy, x, weight, saved.mean, saved.rstd);
}
Gradients rms_norm_backward(const Tensor& dy, const Tensor& x, const Tensor& weight, const RmsNorm& saved) {
  return by_kernel(dy, x, weight, {}, saved.rrms);
}
