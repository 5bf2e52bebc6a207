// Optimizers: what becomes of a weight and its gradient.
//
// This file is given and stays as it is. Tensors hold doubles (Dtype::f64) and are contiguous. Weights change
// in place, through raw::write<double>(); gradients keep their values. raw::clone() makes a tensor of its
// own.
#pragma once

#include <vector>

#include "tensors.h"

// --- task 1: the handout's section 1 (SGD). Throws isobar::Error naming both shapes when they differ, and
// changes nothing.
void sgd(Tensor& w, const Tensor& dw, double lr, double decay = 0);

// --- task 2: Polyak's momentum, and Nesterov's, as in PyTorch: section 2 (Momentum)
struct Momentum {
  double lr = 0.1, momentum = 0.9, decay = 0;
  bool nesterov = false;
  Tensor velocity = {};  // undefined before the first step
  void step(Tensor& w, const Tensor& dw);
};

// --- task 3: AdamW (Loshchilov & Hutter 2019), as in PyTorch: section 3 (AdamW)
struct AdamW {
  double lr = 1e-3, beta1 = 0.9, beta2 = 0.999, eps = 1e-8, decay = 0.01;
  Tensor m = {}, v = {};  // zeros before the first step
  int64_t steps = 0;      // taken so far
  void step(Tensor& w, const Tensor& dw);
};

// --- task 4: scales all gradients by one factor so that their common Euclidean norm is at most `most`.
// Returns the norm before. A norm that is not finite scales nothing.
double clip(std::vector<Tensor>& gradients, double most);

// --- task 5: RMSprop (Hinton 2012) for several weights. Written, with one bug: find it.
struct RmsProp {
  double lr = 0.01, rho = 0.9, eps = 1e-8;
  std::vector<Tensor> squares = {};
  // squares ← rho · squares + (1 − rho) dw²;  w ← w − lr · dw / (√squares + eps)
  void step(std::vector<Tensor>& weights, const std::vector<Tensor>& gradients);
};
