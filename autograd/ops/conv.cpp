// Convolutions, and the unfolded values that they multiply. The kernels are in core/kernels/conv.h.
//
//   unfold:   y[n, k, p] = x under entry k = (channel, ky, kx) of the window at position p    dx = fold(dy)
//   fold:     y = Σ of the x whose entries unfold() takes from the same element               dx = unfold(dy)
//   conv2d:   y = W · unfold(x) + bias
//             dx = fold(Wᵀ · dy)    dW = Σₙ dy · unfold(x)ᵀ    dbias = Σ dy over samples and positions
//   conv1d:   y = W · unfold(x) + bias, of x (N, C, L)
//             dx = fold(Wᵀ · dy)    dW = Σₙ dy · unfold(x)ᵀ    dbias = Σ dy over samples and positions
//
// N samples, C channels, G groups, O filters, K entries of a window in the channels of a group, P positions.
#include "../tape.h"
#include "checks.h"
#include "windows.h"

namespace isobar {
namespace {

using kernels::Grid;

// (N, C, …) → (N, K, P); with the sizes in `grid`.
Tensor unfold_of(const Tensor& x, const Grid& grid) {
  const Tensor images = raw::contiguous(x);
  Tensor y(Shape{x.size(0), grid.depth(), grid.positions()}, x.dtype());
  dispatch_float("unfold", x.dtype(), [&]<class T>() {
    kernels::unfold_images(grid, x.size(0), images.data<T>(), raw::write<T>(y));
  });
  return y;
}

Tensor fold_of(const Tensor& x, const Shape& shape, const Grid& grid) {
  const Tensor values = raw::contiguous(x);
  Tensor y(shape, x.dtype());
  dispatch_float("fold", x.dtype(), [&]<class T>() {
    kernels::fold_images(grid, x.size(0), values.data<T>(), raw::write<T>(y));
  });
  return y;
}

WindowSettings settings_of(const PerDim& kernel_size, const WindowOptions& o) {
  return {.kernel_size = kernel_size, .stride = o.stride, .padding = o.padding, .dilation = o.dilation};
}

// x (N, C, …), weight (O, C / G, …), by a product for each group.
Tensor conv_composed(const Tensor& x, const Tensor& weight, const Tensor& bias, const ConvOptions& o,
                     const Grid& grid, int dims) {
  const int64_t samples = x.size(0), groups = o.groups, filters = weight.size(0) / groups;
  PerDim kernel_size = dims == 1 ? PerDim(weight.size(2)) : PerDim{weight.size(2), weight.size(3)};
  const Tensor values =
      unfold(x, kernel_size, {.stride = o.stride, .padding = o.padding, .dilation = o.dilation});
  const Tensor y = matmul(reshape(weight, {groups, filters, grid.depth()}),
                          reshape(values, {samples, groups, grid.depth(), grid.positions()}));
  const Tensor image = reshape(y, output_shape(samples, weight.size(0), grid, dims));
  if (!bias.defined()) return image;
  return image + reshape(bias, dims == 1 ? Shape{weight.size(0), 1} : Shape{weight.size(0), 1, 1});
}

template <class T>
Tensor conv_of(OpName op, const Tensor& x_in, const Tensor& weight_in, const Tensor& bias,
               const ConvOptions& o, const Grid& grid, int dims) {
  const kernels::Convolution<T> convolution{
      .grid = grid, .samples = x_in.size(0), .groups = o.groups, .filters = weight_in.size(0) / o.groups};
  const Tensor x = raw::contiguous(x_in).detach(), weight = raw::contiguous(weight_in).detach();
  const Tensor start = bias.defined() ? raw::contiguous(bias) : bias;
  Tensor y(output_shape(x.size(0), weight.size(0), grid, dims), x.dtype());
  convolution.forward(x.data<T>(), weight.data<T>(), start.defined() ? start.data<T>() : nullptr,
                      raw::write<T>(y));
  return record(op, y, {x_in, weight_in, bias},
                [convolution, x, weight, of_positions = Shape{x.size(0), weight.size(0), grid.positions()}](
                    const Tensor& upstream, Wants wants) {
                  const Tensor dy = raw::contiguous(upstream);
                  Tensor dx, dweight, dbias;
                  if (wants[0]) {
                    dx = Tensor(x.shape(), x.dtype());
                    convolution.input_gradient(dy.data<T>(), weight.data<T>(), raw::write<T>(dx));
                  }
                  if (wants[1]) {
                    dweight = Tensor(weight.shape(), x.dtype());
                    convolution.weight_gradient(x.data<T>(), dy.data<T>(), raw::write<T>(dweight));
                  }
                  if (wants[2]) dbias = sum(sum(reshape(dy, of_positions), {2}), {0});
                  return std::array{dx, dweight, dbias};
                });
}

Tensor conv(OpName op, const Tensor& x, const Tensor& weight, const Tensor& bias, const ConvOptions& o,
            int dims) {
  const std::span<const int64_t> in = check_images(op.text(), x, dims);
  const char* const form = dims == 1 ? "(O, C / groups, K)" : "(O, C / groups, KH, KW)";
  check(weight.ndim() == dims + 2 && weight.numel() > 0, "{}: wanted a weight {} with elements, got {}", op,
        form, weight.shape());
  const int64_t channels = x.size(1), filters = weight.size(0);
  check(o.groups >= 1 && channels % o.groups == 0 && filters % o.groups == 0,
        "{}: {} groups must divide the {} channels of x {} and the {} filters of weight {}", op, o.groups,
        channels, x.shape(), filters, weight.shape());
  check(weight.size(1) * o.groups == channels,
        "{}: weight {} with {} group{} is for {} channels, but x {} has {}; weight is {}", op, weight.shape(),
        o.groups, o.groups == 1 ? "" : "s", weight.size(1) * o.groups, x.shape(), channels, form);
  check(!bias.defined() || bias.shape() == Shape{filters}, "{}: bias must be [{}] for weight {}, got {}", op,
        filters, weight.shape(), bias.defined() ? bias.shape() : Shape());
  check_same_dtype(op.text(), "x", x, "weight", weight);
  check_same_dtype(op.text(), "x", x, "bias", bias);
  const Grid grid =
      grid_of(op.text(), x, in, channels / o.groups,
              {.kernel_size = dims == 1 ? PerDim(weight.size(2)) : PerDim{weight.size(2), weight.size(3)},
               .stride = o.stride,
               .padding = o.padding,
               .dilation = o.dilation});
  if (composed_wanted()) return conv_composed(x, weight, bias, o, grid, dims);
  return x.dtype() == Dtype::f32 ? conv_of<float>(op, x, weight, bias, o, grid, dims)
                                 : conv_of<double>(op, x, weight, bias, o, grid, dims);
}

}  // namespace

int64_t PerDim::at(const char* op, const char* name, int dim, int dims, int64_t least) const {
  check(given(), "{}: {} is missing", op, name);
  check(count_ == 1 || static_cast<int>(count_) == dims, "{}: {} must be one number, or {}, got {}", op, name,
        dims == 1 ? "a list of one" : "one for each of 2 dimensions", count_);
  const int64_t number = number_[count_ == 1 ? 0 : static_cast<size_t>(dim)];
  check(number >= least && number <= most, "{}: {} must be between {} and {}, got {}", op, name, least, most,
        number);
  return number;
}

PerDim::PerDim(std::initializer_list<int64_t> each) : count_(each.size()) {
  std::copy_n(each.begin(), std::min(count_, number_.size()), number_.begin());
}

Tensor unfold(const Tensor& x, const PerDim& kernel_size, const WindowOptions& options) {
  check(x.ndim() == 3 || x.ndim() == 4, "unfold: wanted x (N, C, L) or (N, C, H, W), got {}", x.shape());
  const std::span<const int64_t> in = check_images("unfold", x, x.ndim() - 2);
  const Grid grid = grid_of("unfold", x, in, x.size(1), settings_of(kernel_size, options));
  return record("unfold", unfold_of(x, grid), {x},
                [shape = x.shape(), kernel_size, options](const Tensor& dy) {
                  return fold(dy, shape.last(shape.ndim() - 2), kernel_size, options);
                });
}

Tensor fold(const Tensor& x, const Shape& output_size, const PerDim& kernel_size,
            const WindowOptions& options) {
  const int dims = output_size.ndim();
  check(dims == 1 || dims == 2, "fold: output_size must be (L) or (H, W), got {}", output_size);
  check(x.ndim() == 3, "fold: wanted x (N, C · window, P), got {}", x.shape());
  check(output_size.numel() > 0, "fold: wanted an output_size with elements, got {}", output_size);
  check_float("fold", x.dtype());
  const std::span<const int64_t> in(output_size.begin(), static_cast<size_t>(dims));
  Grid grid = grid_of("fold", x, in, 1, settings_of(kernel_size, options));
  check(x.size(1) > 0 && x.size(1) % grid.window() == 0 && x.size(2) == grid.positions(),
        "fold: wanted x (N, C · {}, {}) for output_size {}, got {}", grid.window(), grid.positions(),
        output_size, x.shape());
  grid.channels = x.size(1) / grid.window();
  const Shape shape = dims == 1 ? Shape{x.size(0), grid.channels, output_size[0]}
                                : Shape{x.size(0), grid.channels, output_size[0], output_size[1]};
  return record("fold", fold_of(x, shape, grid), {x},
                [kernel_size, options](const Tensor& dy) { return unfold(dy, kernel_size, options); });
}

Tensor conv1d(const Tensor& x, const Tensor& weight, const Tensor& bias, const ConvOptions& options) {
  return conv({"conv1d", Node::Kind::convolution}, x, weight, bias, options, 1);
}

Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias, const ConvOptions& options) {
  return conv({"conv2d", Node::Kind::convolution}, x, weight, bias, options, 2);
}

}  // namespace isobar
