// Three small functions that work, nearly: each misuses memory once.
//
// This file is given and stays as it is; find the bugs in a0.cpp. Functions return new tensors, Dtype::f64.
#pragma once

#include "tensors.h"

// --- task 1: y[i], the mean of x[i] … x[i + width − 1]. x (N), Dtype::f64; y (N − width + 1); 1 ≤ width ≤ N.
Tensor moving_average(const Tensor& x, int64_t width);

// --- task 2: x divided by its largest magnitude; zeros stay zeros. x (N), Dtype::f32 or Dtype::f64, N ≥ 1.
Tensor scaled(const Tensor& x);

// --- task 3: (count): how many of the classes (N), Dtype::f64, are 0, 1, … count − 1; each is one of them.
Tensor histogram(const Tensor& classes, int64_t count);
