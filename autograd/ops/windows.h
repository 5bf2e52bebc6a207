// Checks of the arguments of convolutions and pools, and the sizes that follow from them. Not for users. All throw
// Error in the name of `op`.
#pragma once

#include <fmt/ranges.h>

#include "../../core/kernels/conv.h"
#include "../ops.h"

namespace isobar {

// The settings of a window, as their ops take them.
struct WindowSettings {
  PerDim kernel_size, stride = 1, padding = 0, dilation = 1;
  bool ceil_mode = false;
};

// "3 × 5", for errors.
inline std::string sizes_text(const std::vector<int64_t>& sizes) {
  return fmt::format("{}", fmt::join(sizes, " × "));
}

// The outputs of a window along one dimension. With ceil_mode a last window may reach beyond the padding, where it
// begins within x or its left padding.
inline int64_t outputs_of(const kernels::Axis& axis, bool ceil_mode) {
  const int64_t rest = axis.padded() - axis.dilation * (axis.kernel - 1) - 1;
  if (rest < 0) return 0;
  const int64_t out = (rest + (ceil_mode ? axis.stride - 1 : 0)) / axis.stride + 1;
  return ceil_mode && (out - 1) * axis.stride >= axis.in + axis.padding ? out - 1 : out;
}

// Of x (N, C, L) or (N, C, H, W), with the spatial extents `in` of the images; all channels are in one group.
inline kernels::Grid grid_of(const char* op, const Tensor& x, std::span<const int64_t> in, int64_t channels,
                             const WindowSettings& s) {
  const int dims = static_cast<int>(in.size());
  const auto axis = [&](int d) {
    return kernels::Axis{in[d], s.kernel_size.at(op, "kernel_size", d, dims, 1),
                         s.stride.at(op, "stride", d, dims, 1), s.padding.at(op, "padding", d, dims, 0),
                         s.dilation.at(op, "dilation", d, dims, 1)};
  };
  kernels::Grid grid{.channels = channels, .columns = axis(dims - 1)};
  if (dims == 2) grid.rows = axis(0);
  std::vector<int64_t> span, padded;
  bool fits = true;
  for (kernels::Axis* a : {&grid.rows, &grid.columns}) {
    a->out = outputs_of(*a, s.ceil_mode);
    if (dims == 1 && a == &grid.rows) continue;
    span.push_back(a->dilation * (a->kernel - 1) + 1), padded.push_back(a->padded());
    fits = fits && a->out > 0;
  }
  check(
      fits,
      "{}: the window covers {} elements, more than the {} of x {} with its padding, so there is no output; add "
      "padding, or take a smaller kernel_size or dilation",
      op, sizes_text(span), sizes_text(padded), x.shape());
  return grid;
}

// Throws unless x is (N, C, L) for one dimension or (N, C, H, W) for two, with elements in each image.
inline std::span<const int64_t> check_images(const char* op, const Tensor& x, int dims) {
  check(x.ndim() == dims + 2, "{}: wanted x ({}), got {}{}", op, dims == 1 ? "N, C, L" : "N, C, H, W",
        x.shape(), x.ndim() == dims + 1 ? "; add the dimension that is missing with unsqueeze()" : "");
  check_float(op, x.dtype());
  const std::span<const int64_t> extents(x.shape().begin() + 1, static_cast<size_t>(dims) + 1);
  check(std::find(extents.begin(), extents.end(), 0) == extents.end(),
        "{}: wanted channels and images with elements (N alone may be 0), got x {}", op, x.shape());
  return extents.subspan(1);
}

// (N, channels, OH, OW), or (N, channels, OL).
inline Shape output_shape(int64_t samples, int64_t channels, const kernels::Grid& grid, int dims) {
  return dims == 1 ? Shape{samples, channels, grid.columns.out}
                   : Shape{samples, channels, grid.rows.out, grid.columns.out};
}

}  // namespace isobar
