// Loops over a row of numbers, register by register, for the fused kernels.
//
//   LaneSums<T> squares;
//   for_registers<T>(n, [&](auto io, int64_t i) {
//     const Vec<T> v = io.load(x + i);
//     squares.add(io.keep(v * v), i);
//     io.store(v * scale, y + i);
//   });
//
// `io` loads and stores a whole register, or the last, incomplete one padded with zeros. An element's bits do
// not depend on its position.
#pragma once

#include <array>

#include "reduce.h"
#include "vmath.h"

namespace isobar::kernels {

template <class T>
struct WholeRegister {
  Vec<T> load(const T* x) const { return kernels::load(x); }
  void store(Vec<T> v, T* y) const { kernels::store(v, y); }
  void store(Vec<T> v, T* y, Store how) const { kernels::store<T>(v, y, how); }
  // v with zeros in the padding.
  Vec<T> keep(Vec<T> v) const { return v; }
};

template <class T>
struct PartRegister {
  int64_t count;
  Vec<T> load(const T* x) const { return load_part(x, count); }
  void store(Vec<T> v, T* y, Store = Store::plain) const { store_part<T>(v, y, count); }
  Vec<T> keep(Vec<T> v) const {
    T padded[width<T>] = {};
    store_part<T>(v, padded, count);
    return kernels::load(padded);
  }
};

// body(io, i) for the registers of n elements, i the first element of each. One iteration takes sixteen
// elements on every machine, so that LaneSums knows its lane at compile time.
template <class T, class Body>
void for_registers(int64_t n, const Body& body) {
  static_assert(lanes % width<T> == 0);
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes)
    for (int64_t l = 0; l < lanes; l += width<T>) body(WholeRegister<T>{}, i + l);
  for (; i + width<T> <= n; i += width<T>) body(WholeRegister<T>{}, i);
  if (i < n) body(PartRegister<T>{n - i}, i);
}

// Sixteen running sums in double, element i in lane i mod 16 whatever the width of the machine's registers.
template <class T>
class LaneSums {
 public:
  LaneSums() {
    for (Vec<double>& lane : lane_) lane = Vec<double>{};
  }
  // Adds the elements from i on, i a multiple of the register's width.
  void add(Vec<T> v, int64_t i) {
    int64_t at = i % lanes / width<double>;
    for (Vec<double> part : widen(v)) lane_[at++] += part;
  }
  // Adds the squares of the elements, in double: the square of a large float may overflow. That of a float is exact in
  // double, so that fma() has the bits of a product and a sum.
  void add_squares(Vec<T> v, int64_t i) {
    int64_t at = i % lanes / width<double>;
    for (Vec<double> part : widen(v)) {
      Vec<double>& sum = lane_[at++];
      sum = sizeof(T) == sizeof(float) ? fma(part, part, sum) : sum + part * part;
    }
  }
  double total() const {
    double each[lanes];
    for (int l = 0; l < lanes; l += static_cast<int>(width<double>))
      store(lane_[l / width<double>], each + l);
    return add_lanes(each);
  }

 private:
  Vec<double> lane_[lanes / width<double>];
};

}  // namespace isobar::kernels
