// Loops over a row of numbers, register by register, for the fused kernels.
//
//   LaneSums<T> squares;
//   for_registers<T>(n, [&](auto io, int64_t i) {
//     const Register<T> v = io.load(x + i);
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
  Register<T> load(const T* x) const { return Register<T>::load_unaligned(x); }
  void store(const Register<T>& v, T* y) const { v.store_unaligned(y); }
  void store(const Register<T>& v, T* y, Store how) const { kernels::store(v, y, how); }
  // v with zeros in the padding.
  Register<T> keep(const Register<T>& v) const { return v; }
};

template <class T>
struct PartRegister {
  int64_t count;
  Register<T> load(const T* x) const { return load_part(x, count); }
  void store(const Register<T>& v, T* y, Store = Store::plain) const { store_part(v, y, count); }
  Register<T> keep(const Register<T>& v) const {
    T padded[width<T>] = {};
    store_part(v, padded, count);
    return Register<T>::load_unaligned(padded);
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

// A register of floats as two of doubles. xsimd 8 has no such conversion, and compilers translate a loop
// badly.
inline std::array<Register<double>, 2> widen(const Register<float>& v) {
#if defined(__AVX512F__)
  const __m256 high = _mm256_castpd_ps(_mm512_extractf64x4_pd(_mm512_castps_pd(v), 1));
  return {_mm512_cvtps_pd(_mm512_castps512_ps256(v)), _mm512_cvtps_pd(high)};
#elif defined(__AVX__)
  return {_mm256_cvtps_pd(_mm256_castps256_ps128(v)), _mm256_cvtps_pd(_mm256_extractf128_ps(v, 1))};
#else
  float narrow[width<float>];
  double wide[width<float>];
  v.store_unaligned(narrow);
  std::copy_n(narrow, width<float>, wide);
  return {Register<double>::load_unaligned(wide), Register<double>::load_unaligned(wide + width<double>)};
#endif
}
inline std::array<Register<double>, 1> widen(const Register<double>& v) { return {v}; }

// Sixteen running sums in double, element i in lane i mod 16 whatever the width of the machine's registers.
template <class T>
class LaneSums {
 public:
  LaneSums() {
    for (Register<double>& lane : lane_) lane = Register<double>(0.0);
  }
  // Adds the elements from i on, i a multiple of the register's width.
  void add(const Register<T>& v, int64_t i) {
    int64_t at = i % lanes / width<double>;
    for (const Register<double>& part : widen(v)) lane_[at++] += part;
  }
  // Adds the squares of the elements, in double: the square of a large float may overflow.
  void add_squares(const Register<T>& v, int64_t i) {
    int64_t at = i % lanes / width<double>;
    for (const Register<double>& part : widen(v)) lane_[at++] += part * part;
  }
  double total() const {
    double each[lanes];
    for (int l = 0; l < lanes; l += static_cast<int>(width<double>))
      lane_[l / width<double>].store_unaligned(each + l);
    return add_lanes(each);
  }

 private:
  Register<double> lane_[lanes / width<double>];
};

}  // namespace isobar::kernels
