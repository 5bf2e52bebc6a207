// ReZero: y = alpha x, one number alpha that begins at 0. (Bachlechner et al. 2020)
std::string chosen() { return "rezero"; }

Formula::Formula(const Shape& width) : p{{"alpha", isobar::zeros({1})}} {}

Tensor Formula::forward(const Tensor& x) { return x * p["alpha"]; }
