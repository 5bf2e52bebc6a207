// CRMSNorm: y = x / √((Σ x² + (Σ x)²) / (C + 1) + 1e-5) · weight, sums over a row. (Jiang et al. 2023)
std::string chosen() { return "crmsnorm"; }

Formula::Formula(const Shape& width) : p{{"weight", ones(width)}} {}

Tensor Formula::forward(const Tensor& x) {
  const Tensor squares = sum(square(x), {-1}, true) + square(sum(x, {-1}, true));
  return x * rsqrt(squares / (x.size(-1) + 1.0) + 1e-5) * p["weight"];
}
