// The closed forms: what a net does to signal and gradient at its initial weights.
//
// Going up, the pre-activations of a wide layer are normal numbers, known by their mean square p and by ρ,
// the correlation between two rows of the batch (Poole et al. 2016). For z normal with mean square p,
//   E relu(z)² = p/2,    std of relu(z) = √p · √(1/2 − 1/2π),
//   E relu(z_a) relu(z_b) = p/2 · κ(ρ),   κ(ρ) = (√(1 − ρ²) + ρ (π − arccos ρ)) / π   (Cho & Saul 2009).
// Going down, the weights count as independent of those seen on the way up (Schoenholz et al. 2017), so a
// squared gradient is multiplied by v/2 per layer, v = width · Var(W).
//
// In a plain chain with neither norm nor bias that independence fails for the losses sum and mean: by Euler's
// theorem x_l · dL/dx_l is the same L in every layer. The share of the gradient that lies along x_l is
// therefore known exactly, passes every ReLU whole, and multiplies the squared gradient by 1 + 2k/π, k layers
// below the top. With orthogonal matrices, |Wᵀ dz| is √v |dz| exactly, the share along x included, and it is
// 1 + k/π. With biases (only 1/6 of p comes from below on the plateau) the share fades within a layer
// and adds less than a tenth to the norm: left out.
//
// Width enters in three places. Biases of PyTorch's default have variance 1/(3 · width). A norm's projection
// takes 1/width (LayerNorm 2/width) of the squared gradient. And ln q walks at random from net to net: in one
// layer |relu(z)|² is a sum of `width` independent terms of relative variance
//   β = E relu(g)⁴ / (E relu(g)²)² − 1 = (3/2) / (1/4) − 1 = 5,   g a standard normal number,
// so ln q moves by a step of variance β/width and mean −β/(2 width); the mask of a ReLU does the same to the
// squared gradient on its way down. An orthogonal matrix keeps |W x|, which takes 2 off: β = 3. After k
// layers, √q is log-normal (Hanin & Nica 2018, Products of many large random matrices) with
//   sd of ln √q = σ = √(β k / width) / 2,   median = exp(−σ²) × the value at infinite width.
// The study's medians over seeds are compared with this median. k counts the layers that a quantity passes:
//   std of layer l         k_l = w_l + s² k_(l−1), s the share of p that comes from below (1 without bias)
//   gradient norm of W_l   k_(l−1) + (depth − l + 1): up to W_l's input, and down from the top
// w_l ≤ 1 since q is a mean over the rows of the batch: 1/B + (1 − 1/B) (κ₂(ρ) − 1)/5, with
//   κ₂(ρ) = 4 E relu(g_a)² relu(g_b)² = 2/π (3 sin θ cos θ + (π − θ)(1 + 2 cos² θ)),  θ = arccos ρ
// (Cho & Saul 2009, order 2). Rows of a deep net are equal, and w = 1. On the way down rows count as equal
// everywhere, and default's uniform biases as normal: there σ is up to twice too large.
//
// With norms q does not walk; the gradient does, and its rows do so together or apart: see rows.h.
//
// Another activation φ has E φ(z)², (E φ(z))² and E φ'(z)² in the place of p/2, p/2π and 1/2: in closed form
// for none, a linear net, and by quadrature for gelu, silu and tanh, up to p = 1000.
#pragma once

#include "config.h"

namespace isobar::decay {

// The median over nets, and the standard deviation of the logarithm (σ above): two nets in three lie between
// median · exp(−σ) and median · exp(σ). NaN where no closed form is known: tanh-like norms, a program's own,
// gradients of order relu_norm with LayerNorm; with another activation than relu that order, and gradients of
// the losses sum and mean, but those of a linear net without a norm. σ is known for plain chains of ReLUs
// without a norm, and for gradients with one but those of pre; elsewhere it is NaN. Without ReLUs, and in
// blocks without a norm, the median stands for the value at infinite width.
struct Prediction {
  double median = std::numeric_limits<double>::quiet_NaN();
  double log_sd = std::numeric_limits<double>::quiet_NaN();
};

struct LayerTheory {
  Prediction output_std, weight_gradient_norm;
  // Of the output's rows along (1, …, 1), root mean square (see LayerSignal): 1/√width for a random
  // direction, such as any row of a residual stream; after a ReLU √(1/π + (1 − 1/π)/width), since E relu(g) =
  // √(1/2π) and E relu(g)² = 1/2; 0 after a LayerNorm. Where rows are equal, a net's value scatters like
  // |g|/√width. On the plateau of default's biases, which are uniform, a ReLU's share is 4 % larger. NaN for
  // plain chains with another activation.
  double along_one = std::numeric_limits<double>::quiet_NaN();
};

// One per layer, from the input to the output, for an input of independent normal numbers.
std::vector<LayerTheory> theory_of(const Config& config);

// Whether the medians are those of finite width.
bool knows_finite_width(const Config& config);

}  // namespace isobar::decay
