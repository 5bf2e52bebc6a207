// Pools as modules, as PyTorch names and defines them. Each calls the op of the same name; they have no parameters.
#pragma once

#include "module.h"

namespace isobar {

// x (N, C, L) → (N, C, positions): the largest value of each window. MaxPool1d(2) halves the length.
struct MaxPool1d : Module {
  PerDim kernel_size;
  MaxPoolOptions options;

  explicit MaxPool1d(const PerDim& window, const MaxPoolOptions& o = {}) : kernel_size(window), options(o) {}
  Tensor forward(const Tensor& x) override { return max_pool1d(x, kernel_size, options); }
};

// x (N, C, H, W) → (N, C, positions of rows, of columns): the largest value of each window. MaxPool2d(2) halves both extents.
struct MaxPool2d : Module {
  PerDim kernel_size;
  MaxPoolOptions options;

  explicit MaxPool2d(const PerDim& window, const MaxPoolOptions& o = {}) : kernel_size(window), options(o) {}
  Tensor forward(const Tensor& x) override { return max_pool2d(x, kernel_size, options); }
};

// x (N, C, L) → (N, C, positions): the mean of each window.
struct AvgPool1d : Module {
  PerDim kernel_size;
  AvgPoolOptions options;

  explicit AvgPool1d(const PerDim& window, const AvgPoolOptions& o = {}) : kernel_size(window), options(o) {}
  Tensor forward(const Tensor& x) override { return avg_pool1d(x, kernel_size, options); }
};

// x (N, C, H, W) → (N, C, positions of rows, of columns): the mean of each window.
struct AvgPool2d : Module {
  PerDim kernel_size;
  AvgPoolOptions options;

  explicit AvgPool2d(const PerDim& window, const AvgPoolOptions& o = {}) : kernel_size(window), options(o) {}
  Tensor forward(const Tensor& x) override { return avg_pool2d(x, kernel_size, options); }
};

// x (N, C, L) of any length → (N, C, output_size); AdaptiveAvgPool1d(1) is the mean of each channel.
struct AdaptiveAvgPool1d : Module {
  PerDim output_size;

  explicit AdaptiveAvgPool1d(const PerDim& size) : output_size(size) {}
  Tensor forward(const Tensor& x) override { return adaptive_avg_pool1d(x, output_size); }
};

// x (N, C, H, W) of any extents → (N, C, output_size): the mean of so many parts. AdaptiveAvgPool2d(1) is that of each
// channel.
struct AdaptiveAvgPool2d : Module {
  PerDim output_size;

  explicit AdaptiveAvgPool2d(const PerDim& size) : output_size(size) {}
  Tensor forward(const Tensor& x) override { return adaptive_avg_pool2d(x, output_size); }
};

}  // namespace isobar
