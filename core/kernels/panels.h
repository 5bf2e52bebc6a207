// A matrix B (K, N) as panels (gemm.h): copied once, then multiplied by a few rows of A at a time.
#pragma once

#include "gemm.h"

namespace isobar::kernels {

template <class T>
class Panels {
 public:
  // Elements that up to k rows and n columns take.
  static int64_t size(int64_t k, int64_t n) {
    return k * panel_columns<T> * chunk_count(n, panel_columns<T>);
  }
  // At `data`, which has room for size(k, n) of them.
  Panels(int64_t k, int64_t n, T* data) : k_(k), data_(data), end_(data + size(k, n)) {}

  T* end() const { return end_; }

  // Copies b (k, n).
  void pack(int64_t k, int64_t n, const Strided<const T>& b) {
    assert(k <= k_);
    for_blocks(n, panel_columns<T>,
               [&](int64_t j, int64_t wide) { pack_panel(k, wide, b.from(0, j), panel(j)); });
  }

  // c (rows, n) = start + a · B' for at most tile_rows rows, where B' (k, n) is B from row `first` on. The
  // last panel is padded with zeros, so n may be rounded up to whole registers.
  void multiply(int64_t rows, int64_t n, int64_t first, int64_t k, const Strided<const T>& a,
                const Strided<const T>& start, const Strided<T>& c) const {
    assert(rows <= tile_rows<T> && first + k <= k_);
    for_blocks(n, panel_columns<T>, [&](int64_t j, int64_t wide) {
      place_tile(k, rows, wide, a, Panel::copied, {}, panel(j) + first * panel_columns<T>, start.from(0, j),
                 c.from(0, j));
    });
  }

 private:
  T* panel(int64_t j) const { return data_ + j * k_; }

  const int64_t k_;
  T *const data_, *const end_;
};

}  // namespace isobar::kernels
