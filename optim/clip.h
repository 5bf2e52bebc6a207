// Gradient clipping by the norm of all gradients together (Pascanu et al. 2013).
//
//   tape.backward(loss);
//   const double norm = clip_grad_norm(parameters(model), 1.0);
//   optimizer.step();
//
// or, which saves a pass over the gradients:
//
//   optimizer.step(clip_factor(grad_norm(parameters(model)), 1.0));
#pragma once

#include "../core/tensor.h"

namespace isobar {

// Returns √(Σ dw²) over the elements of all gradients, summed in double. A parameter without a gradient
// counts as zeros; one that is listed twice counts once. NaN and infinite gradients make the result NaN or
// infinite.
double grad_norm(const std::vector<Tensor>& parameters);

// Returns max_norm / (norm + 1e-6) if that is below one, as torch.nn.utils.clip_grad_norm_, otherwise one.
// NaN for a norm that is NaN or infinite: an infinite gradient has no factor, and for finite gradients with
// an infinite norm clip_grad_norm() finds the factor. Throws Error unless max_norm >= 0.
double clip_factor(double norm, double max_norm);

// Multiplies all gradients by clip_factor() and returns the norm before. A NaN norm makes every gradient NaN,
// and the next loss NaN. Throws Error if no parameter has a gradient, and for a negative max_norm.
double clip_grad_norm(const std::vector<Tensor>& parameters, double max_norm);

}  // namespace isobar
