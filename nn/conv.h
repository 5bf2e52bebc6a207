// Convolutions over one and two spatial dimensions (LeCun et al. 1989), as PyTorch defines and initializes
// them.
//
//   Conv2d conv(1, 8, 3, rng.split("conv"), {.padding = 1});  // 1 channel → 8, a window of 3 × 3
//   Tensor y = conv(x);                                       // (N, 1, 28, 28) → (N, 8, 28, 28)
//
// A causal convolution over time pads on the left alone: conv(pad(x, {k - 1, 0})).
#pragma once

#include "init.h"
#include "module.h"

namespace isobar {

// Options of Conv1d and Conv2d.
struct ConvLayerOptions {
  PerDim stride = 1, padding = 0, dilation = 1;
  int64_t groups = 1;
  bool bias = true;
};

// The base of Conv1d and Conv2d: weight, bias and options.
struct ConvLayer : Module {
  Tensor weight, bias;  // (out_channels, in_channels / groups, kernel …), (out_channels)
  ConvOptions options;

  void fields(Fields& f) override {
    f("weight", weight);
    f("bias", bias);
  }

 protected:
  ConvLayer(const char* op, int64_t in_channels, int64_t out_channels, const Shape& kernel_size,
            const Rng& rng, const ConvLayerOptions& o)
      : options{.stride = o.stride, .padding = o.padding, .dilation = o.dilation, .groups = o.groups} {
    check(in_channels >= 1 && out_channels >= 1 && o.groups >= 1 && in_channels % o.groups == 0 &&
              out_channels % o.groups == 0,
          "{}: {} groups must divide {} channels in and {} out", op, o.groups, in_channels, out_channels);
    const int64_t fan_in = in_channels / o.groups * kernel_size.numel();
    const Shape shape = kernel_size.inserted(0, in_channels / o.groups).inserted(0, out_channels);
    weight = init::linear_default(shape, fan_in, rng.split("weight")).set_trainable();
    if (o.bias) bias = init::linear_default({out_channels}, fan_in, rng.split("bias")).set_trainable();
  }
};

// x (N, in_channels, L) → (N, out_channels, positions); weight (out_channels, in_channels / groups,
// kernel_size) and bias (out_channels) start as U(±1/√fan_in), fan_in = in_channels / groups · kernel_size,
// PyTorch's default. Throws Error unless groups divides both numbers of channels, and where conv1d() does.
struct Conv1d : ConvLayer {
  Conv1d(int64_t in_channels, int64_t out_channels, const PerDim& kernel_size, const Rng& rng,
         const ConvLayerOptions& o = {})
      : ConvLayer("conv1d", in_channels, out_channels, {kernel_size.at("conv1d", "kernel_size", 0, 1, 1)},
                  rng, o) {}

  Tensor forward(const Tensor& x) override { return conv1d(x, weight, bias, options); }
};

// x (N, in_channels, H, W) → (N, out_channels, positions of rows, of columns); weight (out_channels,
// in_channels / groups, kernel rows, kernel columns). Initial values and errors are those of Conv1d.
struct Conv2d : ConvLayer {
  Conv2d(int64_t in_channels, int64_t out_channels, const PerDim& kernel_size, const Rng& rng,
         const ConvLayerOptions& o = {})
      : ConvLayer("conv2d", in_channels, out_channels,
                  {kernel_size.at("conv2d", "kernel_size", 0, 2, 1),
                   kernel_size.at("conv2d", "kernel_size", 1, 2, 1)},
                  rng, o) {}

  Tensor forward(const Tensor& x) override { return conv2d(x, weight, bias, options); }
};

}  // namespace isobar
