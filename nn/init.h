// Initial weights, by the names of their distributions.
//
//   Linear layer(init::he_normal({256, 784}, rng.split("fc1")));
//   assign(other.weight, init::orthogonal(other.weight.shape(), rng.split("fc2"), std::sqrt(2.0)));
//
// A weight is (out, in, …), as in PyTorch: fan_in = in · (product of the rest), fan_out = out · (product of
// the rest). Results are not trainable; layers call set_trainable(). For plain normal and uniform draws see
// Rng.
#pragma once

#include "../core/rng.h"

namespace isobar::init {

struct Fans {
  int64_t in, out;
};
// Throws Error for shapes of fewer than two dimensions, for which fans are not defined.
Fans fans_of(const Shape& shape);

// U(±1/√fan_in), variance 1/(3 fan_in): PyTorch's default for weight and bias of nn.Linear, which for a
// weight is kaiming_uniform_(a = √5). The shape of a bias has no fan_in, so it is an argument.
Tensor linear_default(const Shape& shape, int64_t fan_in, const Rng& rng, Dtype dtype = Dtype::f32);

// Variance gain² · 2 / (fan_in + fan_out) (Glorot & Bengio 2010).
Tensor xavier_uniform(const Shape& shape, const Rng& rng, double gain = 1, Dtype dtype = Dtype::f32);
Tensor xavier_normal(const Shape& shape, const Rng& rng, double gain = 1, Dtype dtype = Dtype::f32);

// Variance gain² / fan_in; the default gain √2 preserves the mean square through a ReLU (He et al. 2015).
// PyTorch calls them kaiming_uniform_ and kaiming_normal_.
inline constexpr double he_gain = 1.4142135623730951;
Tensor he_uniform(const Shape& shape, const Rng& rng, double gain = he_gain, Dtype dtype = Dtype::f32);
Tensor he_normal(const Shape& shape, const Rng& rng, double gain = he_gain, Dtype dtype = Dtype::f32);

// Variance 1 / fan_in (LeCun et al. 1998).
Tensor lecun_normal(const Shape& shape, const Rng& rng, Dtype dtype = Dtype::f32);

// Rows, or columns if there are fewer columns, are orthogonal and of length `gain`; uniform over all such
// matrices (Saxe et al. 2014). A shape of more than two dimensions counts as (out, product of the rest).
Tensor orthogonal(const Shape& shape, const Rng& rng, double gain = 1, Dtype dtype = Dtype::f32);

}  // namespace isobar::init
