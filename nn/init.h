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

// The numbers of inputs and outputs of one element of the result.
struct Fans {
  int64_t in, out;
};
// Returns fan_in and fan_out of a weight. Throws Error for a shape of fewer than two dimensions.
Fans fans_of(const Shape& shape);

// U(±1/√fan_in), variance 1/(3 fan_in): PyTorch's default for weight and bias of nn.Linear, which for a
// weight is kaiming_uniform_(a = √5). The shape of a bias has no fan_in, so it is an argument.
Tensor linear_default(const Shape& shape, int64_t fan_in, const Rng& rng, Dtype dtype = Dtype::f32);

// Uniform with variance gain² · 2 / (fan_in + fan_out) (Glorot & Bengio 2010).
Tensor xavier_uniform(const Shape& shape, const Rng& rng, double gain = 1, Dtype dtype = Dtype::f32);
// Normal with variance gain² · 2 / (fan_in + fan_out) (Glorot & Bengio 2010).
Tensor xavier_normal(const Shape& shape, const Rng& rng, double gain = 1, Dtype dtype = Dtype::f32);

// The gain √2, which preserves the mean square through a ReLU (He et al. 2015).
inline constexpr double he_gain = 1.4142135623730951;
// Uniform with variance gain² / fan_in (He et al. 2015); PyTorch's kaiming_uniform_.
Tensor he_uniform(const Shape& shape, const Rng& rng, double gain = he_gain, Dtype dtype = Dtype::f32);
// Normal with variance gain² / fan_in (He et al. 2015); PyTorch's kaiming_normal_.
Tensor he_normal(const Shape& shape, const Rng& rng, double gain = he_gain, Dtype dtype = Dtype::f32);

// Normal with variance 1 / fan_in (LeCun et al. 1998).
Tensor lecun_normal(const Shape& shape, const Rng& rng, Dtype dtype = Dtype::f32);

// Rows, or columns if there are fewer columns, are orthogonal and of length `gain`; uniform over all such
// matrices (Saxe et al. 2014). A shape of more than two dimensions counts as (out, product of the rest).
Tensor orthogonal(const Shape& shape, const Rng& rng, double gain = 1, Dtype dtype = Dtype::f32);

}  // namespace isobar::init
