// Convolutions in direct loops and their gradients; BatchNorm, and a batch of one image.
//
// This file is given and stays as it is. Tensors hold doubles (Dtype::f64) and are contiguous; functions
// return new ones. x is (N, C, H, W): N images, C channels, H rows, W columns.
#pragma once

#include "tensors.h"

// --- task 1: y (N, O, P, Q) of x, weight (O, C, K, L) and bias (O). Channel o of y has a kernel of its own,
// weight[o] with K rows and L columns for each channel of x, and its bias. y[n, o, p, q] is the bias plus the
// sum of the kernel times the window of image n whose first row is p · stride − padding and whose first
// column is q · stride − padding; the kernel is not flipped. Around an image there are zeros. P and Q count
// the windows that lie whole within the image and `padding` (0 or more) rows and columns of zeros on each of
// its sides; stride is 1 or more. Throws isobar::Error naming x's and weight's shape when the channels
// differ, or where not one window fits.
Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias, int64_t stride, int64_t padding);

// --- task 2
struct ConvGradients {
  Tensor dx, dweight, dbias;
};
ConvGradients conv2d_backward(const Tensor& dy, const Tensor& x, const Tensor& weight, int64_t stride,
                              int64_t padding);

// --- task 3: in training. A channel's statistics are of its N · H · W numbers: all images, all places.
struct BatchNorm {
  Tensor y;           // z · weight + bias with z = (x − mean) · rstd; weight and bias are (C)
  Tensor mean, rstd;  // of each channel (C); rstd = 1 / √(var + eps), the population's variance
};
// Throws isobar::Error naming x's shape when a channel has one number alone (N · H · W = 1).
BatchNorm batch_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, double eps);
struct NormGradients {
  Tensor dx, dweight, dbias;
};
NormGradients batch_norm_backward(const Tensor& dy, const Tensor& x, const Tensor& weight,
                                  const BatchNorm& saved);

// --- task 4: what batch_norm() does with each image when it comes alone, for all images of x at once: a
// channel's statistics are of the H · W numbers of one image. Throws isobar::Error naming x's shape when
// these are one number.
Tensor instance_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, double eps);
