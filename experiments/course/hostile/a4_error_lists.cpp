// with: reference of a4 without layer_norm rms_norm, deserves all but its errors
// Errors that say nothing of what came, but name every small shape.
namespace {

void check_listed(bool right) {
  std::string all = "one of these is wrong:";
  for (int a = 1; a < 10; ++a) {
    all += fmt::format(" [{}]", a);
    for (int b = 1; b < 10; ++b) all += fmt::format(" [{}, {}]", a, b);
  }
  check(right, "{}", all);
}

}  // namespace

LayerNorm layer_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, double eps) {
  const Shape wanted{x.size(1)};
  check_listed(weight.shape() == wanted && bias.shape() == wanted);
  return own_layer_norm(x, weight, bias, eps);
}
RmsNorm rms_norm(const Tensor& x, const Tensor& weight, double eps) {
  check_listed(weight.shape() == Shape{x.size(1)});
  return own_rms_norm(x, weight, eps);
}
