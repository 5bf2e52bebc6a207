// Pools: the largest value, or the mean, of each window of an image. An image is one channel of one sample; the
// definition is tests/spec/conv.h.
//
//   max_pool:  y = the largest value of the window: the first of ties, or the first NaN
//              dx[i] = Σ dy of the windows that chose i, in the order of positions
//   avg_pool:  y = Σ of the window, in double and in the order of its entries, / count
//              dx[i] = Σ dy / count of the windows over i, in the order of positions
#pragma once

#include <limits>

#include "../parallel.h"
#include "conv.h"

namespace isobar::kernels {

// body(image) for each of so many.
template <class Body>
void each_image(const Grid& grid, int64_t images, const Body& body) {
  parallel_each(images, grain_of_rows(grid.window() * grid.positions(), 1 << 14), body);
}

// y and the pixel that each was taken from (images, positions). Every window has an element of the image.
template <class T>
void max_pool(const Grid& grid, int64_t images, const T* x, T* y, int64_t* taken) {
  const Axis &rows = grid.rows, &columns = grid.columns;
  each_image(grid, images, [&](int64_t image) {
    const T* const from = x + image * grid.pixels();
    int64_t p = image * grid.positions();
    for (int64_t oy = 0; oy < rows.out; ++oy)
      for (int64_t ox = 0; ox < columns.out; ++ox, ++p) {
        const int64_t top = oy * rows.stride - rows.padding, left = ox * columns.stride - columns.padding;
        const int64_t first_row = rows.first_inside(oy), first_column = columns.first_inside(ox);
        int64_t best = -1;
        T most = -std::numeric_limits<T>::infinity();
        for (int64_t ky = first_row; ky < rows.kernel && top + ky * rows.dilation < rows.in; ++ky)
          for (int64_t kx = first_column; kx < columns.kernel && left + kx * columns.dilation < columns.in;
               ++kx) {
            const int64_t pixel = (top + ky * rows.dilation) * columns.in + left + kx * columns.dilation;
            const T v = from[pixel];
            if (best < 0 || v > most || (v != v && most == most))
              most = v, best = pixel;  // NaN differs from itself
          }
        y[p] = most, taken[p] = best;
      }
  });
}

template <class T>
void max_pool_gradient(const Grid& grid, int64_t images, const T* dy, const int64_t* taken, T* dx) {
  each_image(grid, images, [&](int64_t image) {
    T* const to = dx + image * grid.pixels();
    std::fill_n(to, grid.pixels(), T{0});
    const int64_t first = image * grid.positions();
    for (int64_t p = first; p < first + grid.positions(); ++p) to[taken[p]] += dy[p];
  });
}

// What a window covers along one dimension: pixels begin … end − 1, and how many elements count in a mean.
struct Span {
  int64_t begin, end, counted;
};

// How avg_pool chooses and divides: windows of the grid, or, if adaptive, as many equal parts of the image as there
// are outputs, which may overlap by a pixel.
struct Means {
  bool adaptive = false;
  bool count_padding = true;
  int64_t divisor = 0;  // 0: the elements that count

  Span span(const Axis& axis, int64_t o) const {
    if (adaptive) {
      const int64_t begin = o * axis.in / axis.out, end = chunk_count((o + 1) * axis.in, axis.out);
      return {begin, end, end - begin};
    }
    const int64_t start = o * axis.stride - axis.padding;
    const int64_t stop = std::min(start + axis.kernel, axis.in + axis.padding);
    const int64_t begin = std::max<int64_t>(start, 0), end = std::min(stop, axis.in);
    return {begin, end, count_padding ? stop - start : std::max<int64_t>(end - begin, 0)};
  }
  int64_t count(const Span& rows, const Span& columns) const {
    return divisor != 0 ? divisor : rows.counted * columns.counted;
  }
};

// body(p, rows, columns) for each position.
template <class Body>
void each_span(const Grid& grid, const Means& means, const Body& body) {
  for (int64_t oy = 0, p = 0; oy < grid.rows.out; ++oy) {
    const Span rows = means.span(grid.rows, oy);
    for (int64_t ox = 0; ox < grid.columns.out; ++ox, ++p) body(p, rows, means.span(grid.columns, ox));
  }
}

template <class T>
void avg_pool(const Grid& grid, const Means& means, int64_t images, const T* x, T* y) {
  each_image(grid, images, [&](int64_t image) {
    const T* const from = x + image * grid.pixels();
    T* const to = y + image * grid.positions();
    each_span(grid, means, [&](int64_t p, const Span& rows, const Span& columns) {
      double sum = 0;
      for (int64_t r = rows.begin; r < rows.end; ++r)
        for (int64_t c = columns.begin; c < columns.end; ++c)
          sum += static_cast<double>(from[r * grid.columns.in + c]);
      to[p] = static_cast<T>(sum / static_cast<double>(means.count(rows, columns)));
    });
  });
}

template <class T>
void avg_pool_gradient(const Grid& grid, const Means& means, int64_t images, const T* dy, T* dx) {
  each_image(grid, images, [&](int64_t image) {
    const T* const from = dy + image * grid.positions();
    T* const to = dx + image * grid.pixels();
    std::fill_n(to, grid.pixels(), T{0});
    each_span(grid, means, [&](int64_t p, const Span& rows, const Span& columns) {
      const T share = from[p] / static_cast<T>(means.count(rows, columns));
      for (int64_t r = rows.begin; r < rows.end; ++r)
        for (int64_t c = columns.begin; c < columns.end; ++c) to[r * grid.columns.in + c] += share;
    });
  });
}

}  // namespace isobar::kernels
