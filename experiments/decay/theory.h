// The closed forms: what infinite width predicts for a net at its initial weights.
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
// below the top. With biases (only 1/6 of p comes from below on the plateau) the share fades within a layer
// and adds less than a tenth to the norm: left out.
//
// Width enters where it is cheap to say: biases of PyTorch's default have variance 1/(3 · width), and a
// norm's projection takes 1/width (LayerNorm 2/width) of the squared gradient. What it leaves out is the
// drift of finite nets: log q walks at random with variance of about 5/width per layer, so a He net of 1000
// layers of 128 ends orders of magnitude below its theory.
#pragma once

#include <limits>
#include <vector>

#include "config.h"

namespace isobar::decay {

// NaN where no closed form is known: tanh-like norms, a program's own, and gradients of order relu_norm.
struct LayerTheory {
  double output_std = std::numeric_limits<double>::quiet_NaN();
  double weight_gradient_norm = std::numeric_limits<double>::quiet_NaN();
};

// One per layer, from the input to the output, for an input of independent normal numbers.
std::vector<LayerTheory> theory_of(const Config& config);

}  // namespace isobar::decay
