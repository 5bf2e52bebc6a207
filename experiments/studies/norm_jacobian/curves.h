// The elementwise replacements of RMSNorm: whether they solve source 004's differential equations, whether
// one can be written as the other, and how far their outputs reach. All in f64, on the modules of nn/.
//
//   dy/dx = (1/ρ)(1 − y²/d), y(0) = 0    solved by y = √d tanh(x/(ρ√d))    (DyTSqrtD, inv_rho = 1/ρ)
//   dy/dx = (y/x)(1 − y²/d)              solved by y = √d x/√(x² + C)      (DyISRU)
#pragma once

#include "../../../core/rng.h"
#include "../../run/measurements.h"

namespace isobar::jacobian {

// Keys "ode.dyt_sqrtd.d<d>.…" for ρ = 1.7 and "ode.dyisru.d<d>.c<C>.…" for C = 1, d − 1, d: slope_residual, the
// largest |slope − right-hand side|, the slope by backward; finite_difference_residual, the same by differences
// of outputs; integrated_diff, the largest |y − Runge-Kutta's|; y_at_0. The curves go to run.h5.
void measure_odes(Measurements& measurements, int64_t d, Run& run);

// "dyt.d<d>.…": DyT as its authors define it, γ tanh(αx) + β, for random α, γ, β; and dα = Σ u γ (1 −
// tanh²(αx)) x.
void measure_dyt(Measurements& measurements, int64_t d, const Rng& rng);

// "dyt_as_dyt_sqrtd.d<d>.…": DyT with α = 1/(ρ√d) and weight √d against DyTSqrtD, ρ = 1.7; and the slope with
// which each starts.
void measure_dyt_as_dyt_sqrtd(Measurements& measurements, int64_t d, const Rng& rng);

// "exact_per_element.d<d>.max_abs_diff": DyISRU with C_i = Σ_{j≠i} x_j² for element i, against RMSNorm.
void measure_exact_per_element(Measurements& measurements, int64_t d, const Rng& rng);

// "bound.<norm>.d<d>": the largest |y| for a one-hot input of 1e4.
void measure_bounds(Measurements& measurements, int64_t d);

}  // namespace isobar::jacobian
