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

// √(Σ dw²) over every element of every parameter's gradient, summed in double; parameters without a gradient
// count as zeros, and without any gradient it is 0. A parameter that is listed twice counts once. NaN and
// infinite gradients show in the result.
double grad_norm(const std::vector<Tensor>& parameters);

// max_norm / (norm + 1e-6) where that is below one, as torch.nn.utils.clip_grad_norm_, else one. NaN for a
// NaN norm, and for an infinite one: an infinite gradient has no factor, and of finite ones with such a norm
// clip_grad_norm() finds it. Throws Error unless max_norm >= 0.
double clip_factor(double norm, double max_norm);

// Scales all gradients by clip_factor and returns the norm before. A NaN norm makes every gradient NaN: the
// next loss shows it. Throws Error where no parameter has a gradient, and for a negative max_norm.
double clip_grad_norm(const std::vector<Tensor>& parameters, double max_norm);

}  // namespace isobar
