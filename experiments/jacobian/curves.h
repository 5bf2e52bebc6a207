// The elementwise replacements of RMSNorm: whether they solve source 004's differential equations, whether
// one can be written as the other, and how far their outputs reach. All in f64, on the modules of nn/.
//
//   dy/dx = (1/ρ)(1 − y²/d), y(0) = 0    solved by y = √d tanh(x/(ρ√d))    (DyTSqrtD, inv_rho = 1/ρ)
//   dy/dx = (y/x)(1 − y²/d)              solved by y = √d x/√(x² + C)      (DyISRU)
#pragma once

#include "../../core/rng.h"
#include "../harness/measurements.h"

namespace isobar::jacobian {

// Keys "ode.dyt_sqrtd.d<d>.…" for ρ = 1.7 and "ode.dyisru.d<d>.c<C>.…" for C = 1, d − 1, d:
//   slope_residual               the largest |slope − right-hand side|, the slope by backward
//   finite_difference_residual   the same, the slope by differences of the module's outputs
//   integrated_diff              the largest |y − Runge-Kutta's|, from one point of the curve onwards
//   y_at_0
// The curves go to run.h5: /series/<same key>: rows x, y, slope.
void measure_odes(Measurements& measurements, int64_t d, Run& run);

// DyT as its authors define it, for random α, γ, β, keys "dyt.d<d>.…":
//   formula_diff          the largest |y − (γ tanh(αx) + β)|
//   alpha_gradient_diff   |dα − Σ u γ (1 − tanh²(αx)) x|
//   weight_and_bias_get_gradients (1: yes), trainable_numbers, trainable_numbers_without_bias, first_alpha
void measure_dyt(Measurements& measurements, int64_t d, const Rng& rng);

// DyT with α = 1/(ρ√d) and weight √d against DyTSqrtD, ρ = 1: "dyt_as_dyt_sqrtd.d<d>.{max_abs_diff, alpha,
// weight}"; and where each starts: "slope_at_0.d<d>.{dyt_default, dyt_sqrtd_default, dyt_as_dyt_sqrtd}".
void measure_dyt_as_dyt_sqrtd(Measurements& measurements, int64_t d, const Rng& rng);

// "exact_per_element.d<d>.max_abs_diff": DyISRU with C_i = Σ_{j≠i} x_j² for element i, against RMSNorm.
void measure_exact_per_element(Measurements& measurements, int64_t d, const Rng& rng);

// "bound.<norm>.d<d>": the largest |y| for a one-hot input of 1e4.
void measure_bounds(Measurements& measurements, int64_t d);

}  // namespace isobar::jacobian
