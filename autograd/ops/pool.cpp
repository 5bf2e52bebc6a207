// Pools over windows of each channel. The kernels are in core/kernels/pool.h.
//
//   max_pool1d:            y = max of the window             dx = dy at the first of the largest values
//   max_pool2d:            y = max of the window             dx = dy at the first of the largest values
//   avg_pool1d:            y = Σ of the window / count       dx = Σ dy / count over the windows of an element
//   avg_pool2d:            y = Σ of the window / count       dx = Σ dy / count over the windows of an element
//   adaptive_avg_pool1d:   as avg_pool1d, with windows that follow from the size of the output
//   adaptive_avg_pool2d:   as avg_pool2d, with windows that follow from the size of the output
#include "../../core/kernels/pool.h"

#include "../tape.h"
#include "windows.h"

namespace isobar {
namespace {

using kernels::Grid, kernels::Means;

// A window of a pool may begin in the padding, but must have an element of x.
void check_padding(const char* op, const Grid& grid) {
  for (const kernels::Axis* a : {&grid.rows, &grid.columns}) {
    const int64_t span = a->dilation * (a->kernel - 1) + 1;
    check(
        a->padding <= span / 2,
        "{}: padding must be at most half of what the window covers, {} of {} elements, got {}; pad() x itself for "
        "more",
        op, span / 2, span, a->padding);
    for (int64_t o = 0; o < a->out; ++o) {
      const int64_t place = o * a->stride - a->padding + a->first_inside(o) * a->dilation;
      check(a->first_inside(o) < a->kernel && place < a->in,
            "{}: the window at position {} lies in the padding alone; take less padding or dilation", op, o);
    }
  }
}

Grid pool_grid(const char* op, const Tensor& x, int dims, const PerDim& kernel_size, const PerDim& stride,
               const PerDim& padding, const PerDim& dilation, bool ceil_mode) {
  const Grid grid = grid_of(op, x, check_images(op, x, dims), 1,
                            {.kernel_size = kernel_size,
                             .stride = stride.given() ? stride : kernel_size,
                             .padding = padding,
                             .dilation = dilation,
                             .ceil_mode = ceil_mode});
  check_padding(op, grid);
  return grid;
}

// By the indices (N, C, P) that the kernel has chosen.
Tensor max_composed(const Tensor& x, const Tensor& taken, const Shape& shape) {
  const Tensor pixels = reshape(x, {x.size(0), x.size(1), x.shape().last(x.ndim() - 2).numel()});
  return reshape(gather(pixels, 2, taken), shape);
}

Tensor max_pool(OpName op, const Tensor& x_in, int dims, const PerDim& kernel_size, const MaxPoolOptions& o) {
  const Grid grid = pool_grid(op, x_in, dims, kernel_size, o.stride, o.padding, o.dilation, o.ceil_mode);
  const Tensor x = raw::contiguous(x_in);
  const int64_t images = x.size(0) * x.size(1);
  const Shape shape = output_shape(x.size(0), x.size(1), grid, dims);
  Tensor y(shape, x.dtype()), taken(Shape{x.size(0), x.size(1), grid.positions()}, Dtype::i64);
  dispatch_float(op, x.dtype(), [&]<class T>() {
    kernels::max_pool(grid, images, x.data<T>(), raw::write<T>(y), raw::write<int64_t>(taken));
  });
  if (composed_wanted()) return max_composed(x_in, taken, shape);
  return record(op, y, {x_in}, [grid, images, taken, from = x.shape()](const Tensor& upstream) {
    const Tensor dy = raw::contiguous(upstream);
    Tensor dx(from, dy.dtype());
    dispatch_float("max_pool", dy.dtype(), [&]<class T>() {
      kernels::max_pool_gradient(grid, images, dy.data<T>(), taken.data<int64_t>(), raw::write<T>(dx));
    });
    return dx;
  });
}

// Along dimension `dim` of x (N, C, H, W), the sum of what each window covers there.
Tensor sums_along(const Tensor& x, int dim, const kernels::Axis& axis, const Means& means) {
  std::vector<Tensor> sums;
  for (int64_t o = 0; o < axis.out; ++o) {
    const kernels::Span span = means.span(axis, o);
    sums.push_back(sum(slice(x, dim, span.begin, span.end), {dim}));
  }
  return stack(sums, dim);
}

// Sums over columns and rows, divided by the counts.
Tensor avg_composed(const Tensor& x, const Grid& grid, const Means& means, const Shape& shape) {
  std::vector<double> counts;
  kernels::each_span(grid, means, [&](int64_t, const kernels::Span& rows, const kernels::Span& columns) {
    counts.push_back(static_cast<double>(means.count(rows, columns)));
  });
  const Tensor images = reshape(x, {x.size(0), x.size(1), grid.rows.in, grid.columns.in});
  const Tensor sums = sums_along(sums_along(images, 3, grid.columns, means), 2, grid.rows, means);
  return reshape(sums / cast(tensor({grid.rows.out, grid.columns.out}, counts), x.dtype()), shape);
}

Tensor avg_pool(OpName op, const Tensor& x_in, int dims, const Grid& grid, const Means& means) {
  const Shape shape = output_shape(x_in.size(0), x_in.size(1), grid, dims);
  if (composed_wanted()) return avg_composed(x_in, grid, means, shape);
  const Tensor x = raw::contiguous(x_in);
  const int64_t images = x.size(0) * x.size(1);
  Tensor y(shape, x.dtype());
  dispatch_float(op, x.dtype(),
                 [&]<class T>() { kernels::avg_pool(grid, means, images, x.data<T>(), raw::write<T>(y)); });
  return record(op, y, {x_in}, [grid, means, images, from = x.shape()](const Tensor& upstream) {
    const Tensor dy = raw::contiguous(upstream);
    Tensor dx(from, dy.dtype());
    dispatch_float("avg_pool", dy.dtype(), [&]<class T>() {
      kernels::avg_pool_gradient(grid, means, images, dy.data<T>(), raw::write<T>(dx));
    });
    return dx;
  });
}

Tensor avg_pool(OpName op, const Tensor& x, int dims, const PerDim& kernel_size, const AvgPoolOptions& o) {
  const Grid grid = pool_grid(op, x, dims, kernel_size, o.stride, o.padding, 1, o.ceil_mode);
  check(o.divisor_override.value_or(1) >= 1, "{}: divisor_override must be at least 1, got {}", op,
        o.divisor_override.value_or(1));
  return avg_pool(op, x, dims, grid,
                  {.count_padding = o.count_include_pad, .divisor = o.divisor_override.value_or(0)});
}

Tensor adaptive_avg_pool(OpName op, const Tensor& x, int dims, const PerDim& output_size) {
  const std::span<const int64_t> in = check_images(op, x, dims);
  Grid grid;
  grid.columns = {.in = in.back(), .out = output_size.at(op, "output_size", dims - 1, dims, 1)};
  if (dims == 2) grid.rows = {.in = in[0], .out = output_size.at(op, "output_size", 0, dims, 1)};
  return avg_pool(op, x, dims, grid, {.adaptive = true});
}

}  // namespace

Tensor max_pool1d(const Tensor& x, const PerDim& kernel_size, const MaxPoolOptions& options) {
  return max_pool("max_pool1d", x, 1, kernel_size, options);
}
Tensor max_pool2d(const Tensor& x, const PerDim& kernel_size, const MaxPoolOptions& options) {
  return max_pool("max_pool2d", x, 2, kernel_size, options);
}
Tensor avg_pool1d(const Tensor& x, const PerDim& kernel_size, const AvgPoolOptions& options) {
  return avg_pool("avg_pool1d", x, 1, kernel_size, options);
}
Tensor avg_pool2d(const Tensor& x, const PerDim& kernel_size, const AvgPoolOptions& options) {
  return avg_pool("avg_pool2d", x, 2, kernel_size, options);
}
Tensor adaptive_avg_pool1d(const Tensor& x, const PerDim& output_size) {
  return adaptive_avg_pool("adaptive_avg_pool1d", x, 1, output_size);
}
Tensor adaptive_avg_pool2d(const Tensor& x, const PerDim& output_size) {
  return adaptive_avg_pool("adaptive_avg_pool2d", x, 2, output_size);
}

}  // namespace isobar
