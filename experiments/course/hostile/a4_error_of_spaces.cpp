// with: reference of a4 without layer_norm rms_norm, deserves all but its errors
// Errors that begin with a shape and go on with spaces, of which who reads them may try each as the last before a bracket.
static void check_shape(bool right, int64_t width) { check(right, "[{}{}", width, std::string(4 << 20, ' ')); }

LayerNorm layer_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, double eps) {
  const Shape wanted{x.size(1)};
  check_shape(weight.shape() == wanted && bias.shape() == wanted, weight.size(0));
  return own_layer_norm(x, weight, bias, eps);
}
RmsNorm rms_norm(const Tensor& x, const Tensor& weight, double eps) {
  check_shape(weight.shape() == Shape{x.size(1)}, weight.size(0));
  return own_rms_norm(x, weight, eps);
}
