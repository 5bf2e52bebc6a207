// Convolution: products of a weight with windows of images, through the tiles of gemm.h.
//
//   y[o, p]  = bias[o] + Σₖ w[o, k] · u[k, p]      one chain of fused multiply-adds in the order of k
//   dw[o, k] = Σ dy[n, o, p] · uₙ[k, p]            one chain in the order of (n, p)
//   dx       = fold(wᵀ · dy)                       chains in the order of o, then added in the order of p
//
// u (K, P) holds the unfolded values of an image: u[k, p] is the value under entry k = (channel, ky, kx) of the
// window at position p = (oy, ox), or 0 in the padding. It is never stored: the image is copied once, with its
// padding, and a panel of u is filled from this copy just before it is multiplied; dw reads the copy directly.
// Of wᵀ · dy, one panel is stored at a time. tests/spec/conv.h is the definition.
//
// One spatial dimension is two, of which the first has an extent of 1.
#pragma once

#include "../parallel.h"
#include "gemm.h"

namespace isobar::kernels {

// One spatial dimension of images and of the windows on them, in elements.
struct Axis {
  int64_t in = 1, kernel = 1, stride = 1, padding = 0, dilation = 1, out = 1;

  int64_t padded() const { return in + 2 * padding; }
  // The first entry of the window at position o that is not in the padding before the image.
  int64_t first_inside(int64_t o) const {
    return chunk_count(std::max<int64_t>(padding - o * stride, 0), dilation);
  }
};

// Images of so many channels, padded, and the windows on them.
struct Grid {
  int64_t channels = 1;
  Axis rows = {}, columns = {};

  int64_t window() const { return rows.kernel * columns.kernel; }  // entries of a window in one channel
  int64_t depth() const { return channels * window(); }            // K
  int64_t positions() const { return rows.out * columns.out; }     // P
  int64_t pixels() const { return rows.in * columns.in; }          // of one channel
  int64_t pitch() const { return columns.padded(); }               // of a padded image
  int64_t plane() const { return rows.padded() * columns.padded(); }
  // Where, in a padded image, entry k of the window at position 0 stands; and how far position p is from there.
  int64_t entry(int64_t k) const {
    return k / window() * plane() + k / columns.kernel % rows.kernel * rows.dilation * pitch() +
           k % columns.kernel * columns.dilation;
  }
  int64_t position(int64_t p) const {
    return p / columns.out * rows.stride * pitch() + p % columns.out * columns.stride;
  }
};

// Grid::entry() of every k.
struct Entries : Scratch<int64_t> {
  explicit Entries(const Grid& grid) : Scratch(grid.depth()) {
    for (int64_t k = 0; k < grid.depth(); ++k) (*this)[k] = grid.entry(k);
  }
};

// body(row of an image, place of its first element in the padded one) for the rows of all channels.
template <class Body>
void each_row(const Grid& grid, int64_t channels, const Body& body) {
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t y = 0; y < grid.rows.in; ++y)
      body(c * grid.rows.in + y,
           c * grid.plane() + (y + grid.rows.padding) * grid.pitch() + grid.columns.padding);
}

// The elements of a padded copy of so many channels. Whole registers may be read from it.
template <class T>
int64_t padded_size(const Grid& grid, int64_t channels) {
  return channels * grid.plane() + width<T>;
}

template <class T>
void pad_image(const Grid& grid, int64_t channels, const T* image, T* padded) {
  if (grid.plane() != grid.pixels()) std::fill_n(padded, channels * grid.plane(), T{0});
  std::fill_n(padded + channels * grid.plane(), width<T>, T{0});
  each_row(grid, channels, [&](int64_t row, int64_t place) {
    std::copy_n(image + row * grid.columns.in, grid.columns.in, padded + place);
  });
}

template <class T>
void remove_padding(const Grid& grid, int64_t channels, const T* padded, T* image) {
  each_row(grid, channels, [&](int64_t row, int64_t place) {
    std::copy_n(padded + place, grid.columns.in, image + row * grid.columns.in);
  });
}

// The places in a padded image of at most `most` neighbouring positions, as runs of neighbouring elements.
template <int64_t most>
class Runs {
 public:
  Runs(const Grid& grid, int64_t first, int64_t count) {
    assert(count <= most);
    for (int64_t j = 0; j < count; ++j) {
      const int64_t from = grid.position(first + j);
      if (size_ > 0 && from == run_[size_ - 1].from + run_[size_ - 1].length)
        ++run_[size_ - 1].length;
      else
        run_[size_++] = {j, from, 1};
    }
  }
  // row[j] = image at position j. May write up to a register beyond the last one.
  template <class T>
  void gather(const T* image, T* row) const {
    for (int64_t r = 0; r < size_; ++r) {
      const Run& run = run_[r];
      if (run.length == 1)
        row[run.at] = image[run.from];
      else
        for (int64_t i = 0; i < run.length; i += width<T>)
          store(load(image + run.from + i), row + run.at + i);
    }
  }
  // image at position j += row[j]
  template <class T>
  void scatter(const T* __restrict row, T* __restrict image) const {
    for (int64_t r = 0; r < size_; ++r) {
      const Run& run = run_[r];
      const T* const from = row + run.at;
      T* const to = image + run.from;
      for (int64_t i = 0; i < run.length; ++i) to[i] += from[i];
    }
  }

 private:
  struct Run {
    int64_t at, from, length;
  };
  std::array<Run, most> run_;
  int64_t size_ = 0;
};

template <class T>
using PanelRuns = Runs<panel_columns<T>>;

// sums (R, one panel) += a · panel, where row r of a holds the unfolded values of one entry: those of `rows` times
// `columns` positions, so far apart. The panel has a row for each of them.
template <class T, int R, int V>
void correlate_tile(const T* image, const int64_t* entries, int64_t rows, int64_t columns, int64_t row_step,
                    int64_t column_step, const T* panel, T* sums) {
  constexpr int64_t step = panel_columns<T>;
  Vec<T> sum[R][V];
  for (int r = 0; r < R; ++r)
    for (int v = 0; v < V; ++v) sum[r][v] = load(sums + r * step + v * width<T>);
  for (int64_t y = 0; y < rows; ++y) {
    const T* a[R];
    for (int r = 0; r < R; ++r) a[r] = image + entries[r] + y * row_step;
    for (int64_t x = 0; x < columns; ++x, panel += step) {
      Vec<T> row[V];
      for (int v = 0; v < V; ++v) row[v] = load(panel + v * width<T>);
      for (int r = 0; r < R; ++r) {
        const Vec<T> value = splat<Vec<T>>(a[r][x * column_step]);
        for (int v = 0; v < V; ++v) sum[r][v] = fma(value, row[v], sum[r][v]);
      }
    }
  }
  for (int r = 0; r < R; ++r)
    for (int v = 0; v < V; ++v) store(sum[r][v], sums + r * step + v * width<T>);
}

// The functions for every height and width, as [V − 1][R − 1].
template <class T>
using CorrelateTile = void (*)(const T*, const int64_t*, int64_t, int64_t, int64_t, int64_t, const T*, T*);
template <class T, int V, int... R>
constexpr std::array<CorrelateTile<T>, tile_rows<T>> correlate_tiles_of(std::integer_sequence<int, R...>) {
  return {correlate_tile<T, R + 1, V>...};
}
template <class T, class Heights = std::make_integer_sequence<int, tile_rows<T>>>
inline constexpr std::array correlate_tiles{correlate_tiles_of<T, 1>(Heights()),
                                            correlate_tiles_of<T, 2>(Heights()),
                                            correlate_tiles_of<T, 3>(Heights())};

// x (samples, groups · grid.channels, pixels), weight (groups · filters, K), bias (groups · filters) or null,
// y (samples, groups · filters, P); group g of y sees group g of x. No extent but that of samples is 0.
template <class T>
struct Convolution {
  Grid grid;
  int64_t samples = 0, groups = 1, filters = 1;

  void forward(const T* x, const T* weight, const T* bias, T* y) const {
    const int64_t k = grid.depth(), all = grid.positions(), images = samples * groups;
    // Of few images, several parts each, so that all threads have some.
    const int64_t columns =
        step * chunk_count(chunk_count(all, step), parts_of(images, chunk_count(all, 4 * step)));
    const int64_t parts = chunk_count(all, columns);
    const Entries entries(grid);
    parallel_for(
        images * parts, grain_of_rows(filters * k * columns, serial), [&](int64_t begin, int64_t end) {
          const int64_t deep = even_block(k, block_depth);
          const int64_t fitting = std::max<int64_t>(1, block_bytes / (deep * step * int64_t{sizeof(T)}));
          const int64_t block = step * even_block(chunk_count(columns, step), fitting);
          const Scratch<T> padded(padded_size<T>(grid, grid.channels)), room(block * deep + width<T>);
          for (int64_t item = begin; item < end; ++item) {
            const int64_t image = item / parts, first = item % parts * columns, group = image % groups;
            if (item == begin || item % parts == 0)
              pad_image(grid, grid.channels, x + image * grid.channels * grid.pixels(), padded.data());
            for_blocks(std::min(columns, all - first), block, [&](int64_t j, int64_t wide) {
              for_blocks(k, deep, [&](int64_t l, int64_t high) {
                unfold(padded.data(), entries.data() + l, high, first + j, wide, room.data());
                const Panels<T> panels(high, wide, room.data());
                for_blocks(filters, tile_rows<T>, [&](int64_t i, int64_t rows) {
                  const int64_t filter = group * filters + i;
                  const Strided<T> c{y + (image * filters + i) * all + first + j, all};
                  if (l == 0 && bias != nullptr)
                    for (int64_t r = 0; r < rows; ++r) std::fill_n(c.at(r, 0), wide, bias[filter + r]);
                  panels.multiply(rows, wide, 0, high, {weight + filter * k + l, k},
                                  l > 0 || bias != nullptr ? Strided<const T>(c) : Strided<const T>(), c);
                });
              });
            });
          }
        });
  }

  void input_gradient(const T* dy, const T* weight, T* dx) const {
    const int64_t window = grid.window(), all = grid.positions(), images = samples * groups;
    // Some channels at a time: fewer where there are few images, and so that a panel of wᵀ · dy stays in cache.
    const int64_t fitting =
        std::clamp<int64_t>(folded_bytes / (window * step * int64_t{sizeof(T)}), 1, grid.channels);
    const int64_t wanted = std::max(chunk_count(grid.channels, fitting), parts_of(images, grid.channels));
    const int64_t channels = chunk_count(grid.channels, wanted), parts = chunk_count(grid.channels, channels);
    const int64_t most = channels * window;  // rows of wᵀ
    const int64_t strip = chunk_count(most, tile_rows<T>) * tile_rows<T> * filters;
    const Entries entries(grid);
    const Scratch<T> strips(groups * parts * strip);
    parallel_each(groups * parts, grain_of_rows(strip, 1 << 16), [&](int64_t i) {
      const int64_t first = i % parts * most;
      pack_strips<T>(std::min(most, grid.depth() - first), filters,
                     {weight + i / parts * filters * grid.depth() + first, 1, grid.depth()},
                     strips.data() + i * strip);
    });
    parallel_for(
        images * parts, grain_of_rows(filters * most * all, serial), [&](int64_t begin, int64_t end) {
          const Scratch<T> padded(padded_size<T>(grid, channels)), product(most * step);
          const Scratch<T> room(Panels<T>::size(filters, step));
          for (int64_t item = begin; item < end; ++item) {
            const int64_t image = item / parts, first = item % parts * channels;
            const int64_t own = std::min(channels, grid.channels - first), rows = own * window;
            const T* const a = strips.data() + (image % groups * parts + item % parts) * strip;
            std::fill_n(padded.data(), own * grid.plane(), T{0});
            for_blocks(all, step, [&](int64_t p, int64_t wide) {
              Panels<T> panel(filters, wide, room.data());
              panel.pack(filters, wide, {dy + image * filters * all + p, all});
              const int64_t whole = chunk_count(wide, width<T>) * width<T>;
              for_blocks(rows, tile_rows<T>, [&](int64_t i, int64_t high) {
                panel.multiply(high, whole, 0, filters, {a + i * filters, 1, tile_rows<T>}, {},
                               {product.data() + i * step, step});
              });
              // From the last entry to the first: an element then gets its terms in the order of positions.
              const PanelRuns<T> runs(grid, p, wide);
              for (int64_t k = rows - 1; k >= 0; --k)
                runs.scatter(product.data() + k * step, padded.data() + entries[k]);
            });
            remove_padding(grid, own, padded.data(), dx + (image * grid.channels + first) * grid.pixels());
          }
        });
  }

  void weight_gradient(const T* x, const T* dy, T* dweight) const {
    const int64_t k = grid.depth(), all = grid.positions(), window = grid.window();
    // Positions whose panels stay in the second-level cache: some rows, or a part of one.
    const int64_t wide = even_block(grid.columns.out, block_depth);
    const int64_t high = wide < grid.columns.out ? 1 : std::max<int64_t>(1, block_depth / wide);
    // Every part of an image's entries reads all of dy, so there are as many as the threads need.
    const int64_t most =
        tile_rows<T> * chunk_count(chunk_count(k, tile_rows<T>), chunk_count(int64_t{threads()}, groups));
    const int64_t parts = chunk_count(k, most), panels = chunk_count(filters, step);
    const Entries entries(grid);
    parallel_for(
        groups * parts, grain_of_rows(most * filters * all * samples, serial),
        [&](int64_t begin, int64_t end) {
          const Scratch<T> room(Panels<T>::size(high * wide, filters)), sums(panels * most * step);
          const Scratch<T> padded(
              padded_size<T>(grid, std::min(grid.channels, chunk_count(most, window) + 1)));
          const Scratch<int64_t> places(most);
          for (int64_t item = begin; item < end; ++item) {
            const int64_t group = item / parts, first = item % parts * most, rows = std::min(most, k - first);
            const int64_t channel = first / window, channels = chunk_count(first + rows, window) - channel;
            for (int64_t r = 0; r < rows; ++r) places[r] = entries[first + r] - channel * grid.plane();
            std::fill_n(sums.data(), panels * most * step, T{0});
            for (int64_t n = 0; n < samples; ++n) {
              const int64_t image = n * groups + group;
              pad_image(grid, channels, x + (image * grid.channels + channel) * grid.pixels(), padded.data());
              for_blocks(grid.rows.out, high, [&](int64_t oy, int64_t tall) {
                for_blocks(grid.columns.out, wide, [&](int64_t ox, int64_t across) {
                  const int64_t p = oy * grid.columns.out + ox, count = tall * across;
                  Panels<T>(count, filters, room.data())
                      .pack(count, filters, {dy + image * filters * all + p, 1, all});
                  for_blocks(rows, tile_rows<T>, [&](int64_t i, int64_t height) {
                    for (int64_t panel = 0; panel < panels; ++panel) {
                      const int64_t columns = std::min(step, filters - panel * step);
                      correlate_tiles<T>[(columns - 1) / width<T>][height - 1](
                          padded.data() + grid.position(p), places.data() + i, tall, across,
                          grid.rows.stride * grid.pitch(), grid.columns.stride,
                          room.data() + panel * count * step, sums.data() + (panel * most + i) * step);
                    }
                  });
                });
              });
            }
            for_blocks(filters, step, [&](int64_t i, int64_t columns) {
              transpose(rows, columns, sums.data() + i / step * most * step, step,
                        dweight + (group * filters + i) * k + first, k);
            });
          }
        });
  }

 private:
  static constexpr int64_t step = panel_columns<T>;
  static constexpr int64_t serial = 1 << 20;          // multiply-adds that are not worth another thread
  static constexpr int64_t folded_bytes = 128 << 10;  // of a panel of wᵀ · dy
  static constexpr int64_t enough = 16;               // parts of the work, for all threads

  static int64_t parts_of(int64_t images, int64_t most) {
    return std::clamp<int64_t>(chunk_count(enough, std::max<int64_t>(images, 1)), 1,
                               std::max<int64_t>(most, 1));
  }
  // panels = u of these rows, and `wide` columns from position `first` on. One register more may be written.
  void unfold(const T* padded, const int64_t* entries, int64_t rows, int64_t first, int64_t wide,
              T* panels) const {
    for_blocks(wide, step, [&](int64_t j, int64_t count) {
      const PanelRuns<T> runs(grid, first + j, count);
      T* const panel = panels + j * rows;
      if (count < step) std::fill_n(panel, rows * step, T{0});
      for (int64_t l = 0; l < rows; ++l) runs.gather(padded + entries[l], panel + l * step);
    });
  }
};

// u (K, P) of one image: y[k, p] = x under entry k of the window at position p.
template <class T>
void unfold_images(const Grid& grid, int64_t samples, const T* x, T* y) {
  const int64_t window = grid.window(), all = grid.positions();
  parallel_for(samples * grid.channels, grain_of_rows(window * all, 1 << 14),
               [&](int64_t begin, int64_t end) {
                 const Scratch<T> padded(padded_size<T>(grid, 1));
                 for (int64_t c = begin; c < end; ++c) {
                   pad_image(grid, 1, x + c * grid.pixels(), padded.data());
                   for (int64_t k = 0; k < window; ++k)
                     for (int64_t p = 0; p < all; ++p)
                       y[(c * window + k) * all + p] = padded[grid.entry(k) + grid.position(p)];
                 }
               });
}

// The adjoint: each element of x is the sum of the y that unfold_images() makes of it, in the order of p.
template <class T>
void fold_images(const Grid& grid, int64_t samples, const T* y, T* x) {
  const int64_t window = grid.window(), all = grid.positions();
  parallel_for(samples * grid.channels, grain_of_rows(window * all, 1 << 14),
               [&](int64_t begin, int64_t end) {
                 const Scratch<T> padded(padded_size<T>(grid, 1));
                 for (int64_t c = begin; c < end; ++c) {
                   std::fill_n(padded.data(), grid.plane(), T{0});
                   for (int64_t k = window - 1; k >= 0;
                        --k)  // an element then gets its terms in the order of positions
                     for (int64_t p = 0; p < all; ++p)
                       padded[grid.entry(k) + grid.position(p)] += y[(c * window + k) * all + p];
                   remove_padding(grid, 1, padded.data(), x + c * grid.pixels());
                 }
               });
}

}  // namespace isobar::kernels
