// EvoNorm-S0, one group: y = x sigmoid(v x) / √(var x + 1e-5) · weight + bias, the variance of a row. (Liu et
// al. 2020)
std::string chosen() { return "evonorm_s0"; }

Formula::Formula(const Shape& width)
    : p{{"weight", ones(width)}, {"bias", zeros(width)}, {"v", ones(width)}} {}

Tensor Formula::forward(const Tensor& x) {
  const Tensor variance = mean(square(x - mean(x, {-1}, true)), {-1}, true);
  return x * sigmoid(p["v"] * x) * rsqrt(variance + 1e-5) * p["weight"] + p["bias"];
}
