// Vec<T>: a vector register of the machine, as the compiler's own vector type (GCC and Clang). Operators and
// comparisons are the compiler's; this file adds what has no operator.
//
//   Vec<float> v = load(x), y = select(v < 0, splat<Vec<float>>(0), fma(v, v, v));
//   store(y, out);
//
// The templates over V take a number (float, double) as well as a register, so that a function is written
// once for both. A comparison of registers has all bits set in the lanes where it is true.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#if defined(__AVX512F__) || (defined(__AVX2__) && defined(__FMA__))
#pragma GCC diagnostic push
// g++ 12 finds its own AVX-512 intrinsics uninitialized (GCC bug 105593).
#pragma GCC diagnostic ignored "-Wuninitialized"
#ifndef __clang__  // clang has no such warning
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>
#pragma GCC diagnostic pop
#elif defined(__aarch64__)
#include <arm_neon.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace isobar::kernels {

#if defined(__AVX512F__)
inline constexpr int register_bytes = 64;
inline constexpr const char* register_name = "AVX-512";
#elif defined(__AVX2__) && defined(__FMA__)
inline constexpr int register_bytes = 32;
inline constexpr const char* register_name = "AVX2";
#else
inline constexpr int register_bytes = 16;
#ifdef __aarch64__
inline constexpr const char* register_name = "NEON";
#else
inline constexpr const char* register_name = "128 bits";
#endif
#endif

// Names the registers that code was compiled for. Two files of one program must agree on it, because inline
// functions have the same names whatever the registers: see layout_of() in autograd/pointwise.h.
template <int bytes>
struct Registers {};
using Machine = Registers<register_bytes>;

// What goes with a number: its register, and integers of its size. Both compilers want float and double
// spelled out here: g++ 12 ignores vector_size on a type that depends on a template's parameter.
template <class V>
struct VecTraits;
template <>
struct VecTraits<float> {
  using Number = float;
  using Bits = uint32_t;
  typedef float Vec __attribute__((vector_size(register_bytes)));
  typedef uint32_t VecBits __attribute__((vector_size(register_bytes)));
};
template <>
struct VecTraits<double> {
  using Number = double;
  using Bits = uint64_t;
  typedef double Vec __attribute__((vector_size(register_bytes)));
  typedef uint64_t VecBits __attribute__((vector_size(register_bytes)));
};
template <class T>
using Vec = typename VecTraits<T>::Vec;
template <>
struct VecTraits<Vec<float>> {
  using Number = float;
  using Bits = VecTraits<float>::VecBits;
};
template <>
struct VecTraits<Vec<double>> {
  using Number = double;
  using Bits = VecTraits<double>::VecBits;
};

// The number type of a register (of a number: itself), the integers that hold its bits, and the result of a
// comparison.
template <class V>
using Number = typename VecTraits<V>::Number;
template <class V>
using Bits = typename VecTraits<V>::Bits;
template <class V>
using Mask = decltype(V{} < V{});
template <class V>
concept NumberOrVec = requires {
  typename VecTraits<V>::Bits;
};

// The number of elements in a register.
template <class T>
inline constexpr int64_t width = register_bytes / static_cast<int64_t>(sizeof(T));

// x in all lanes. (x + 0 would lose the sign of −0.)
template <NumberOrVec V>
V splat(Number<V> x) {
  return x - V{};
}
template <NumberOrVec V>
Bits<V> bits_of(V v) {
  return std::bit_cast<Bits<V>>(v);
}
template <NumberOrVec V>
V of_bits(Bits<V> bits) {
  return std::bit_cast<V>(bits);
}

template <class T>
Vec<T> load(const T* x) {
  Vec<T> v;
  std::memcpy(&v, x, sizeof v);
  return v;
}
inline void store(Vec<float> v, float* y) { std::memcpy(y, &v, sizeof v); }
inline void store(Vec<double> v, double* y) { std::memcpy(y, &v, sizeof v); }

// Loads the first `count` < width elements at x, padded with zeros.
template <class T>
Vec<T> load_part(const T* x, int64_t count) {
  T padded[width<T>] = {};
  std::copy_n(x, count, padded);
  return load(padded);
}
// Stores the first `count` elements of v.
template <class T>
void store_part(std::type_identity_t<Vec<T>> v, T* y, int64_t count) {
  T padded[width<T>];
  store(v, padded);
  std::copy_n(padded, count, y);
}

// Returns a where the mask is set, else b.
template <class M, NumberOrVec V>
V select(M mask, V a, V b) {
  return mask ? a : b;
}
template <NumberOrVec V>
V abs(V x) {
  return of_bits<V>(bits_of(x) & ~bits_of(splat<V>(Number<V>(-0.0))));
}

inline float fma(float a, float b, float c) { return std::fma(a, b, c); }
inline double fma(double a, double b, double c) { return std::fma(a, b, c); }
inline float sqrt(float x) { return std::sqrt(x); }
inline double sqrt(double x) { return std::sqrt(x); }
// The smaller or the larger number; b where one of the two is NaN.
inline float min(float a, float b) { return a < b ? a : b; }
inline double min(double a, double b) { return a < b ? a : b; }
inline float max(float a, float b) { return a > b ? a : b; }
inline double max(double a, double b) { return a > b ? a : b; }

using FloatMask = Mask<Vec<float>>;
using DoubleMask = Mask<Vec<double>>;

// For each kind of registers: fma(a, b, c) = a · b + c and sqrt(x), which round once; min() and max() as
// above; lane_bits(mask), whose bit l is set where lane l is, and less_bits(a, b), which is lane_bits(a < b);
// widen(), a register of floats as two of doubles, and narrow(), its inverse; stream(v, y), which stores past
// the caches at an aligned y, and finish_streams(), which makes such stores visible to other threads.
#if defined(__AVX512F__)
inline Vec<float> fma(Vec<float> a, Vec<float> b, Vec<float> c) { return _mm512_fmadd_ps(a, b, c); }
inline Vec<double> fma(Vec<double> a, Vec<double> b, Vec<double> c) { return _mm512_fmadd_pd(a, b, c); }
inline Vec<float> sqrt(Vec<float> x) { return _mm512_maskz_sqrt_ps(__mmask16(-1), x); }
inline Vec<double> sqrt(Vec<double> x) { return _mm512_maskz_sqrt_pd(__mmask8(-1), x); }
inline Vec<float> min(Vec<float> a, Vec<float> b) { return _mm512_maskz_min_ps(__mmask16(-1), a, b); }
inline Vec<double> min(Vec<double> a, Vec<double> b) { return _mm512_maskz_min_pd(__mmask8(-1), a, b); }
inline Vec<float> max(Vec<float> a, Vec<float> b) { return _mm512_maskz_max_ps(__mmask16(-1), a, b); }
inline Vec<double> max(Vec<double> a, Vec<double> b) { return _mm512_maskz_max_pd(__mmask8(-1), a, b); }
inline uint64_t less_bits(Vec<float> a, Vec<float> b) { return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ); }
inline uint64_t less_bits(Vec<double> a, Vec<double> b) { return _mm512_cmp_pd_mask(a, b, _CMP_LT_OQ); }
inline uint64_t lane_bits(FloatMask m) {
  return _mm512_cmplt_epi32_mask(std::bit_cast<__m512i>(m), __m512i{});
}
inline uint64_t lane_bits(DoubleMask m) {
  return _mm512_cmplt_epi64_mask(std::bit_cast<__m512i>(m), __m512i{});
}
inline std::array<Vec<double>, 2> widen(Vec<float> v) {
  const __m512i bits = std::bit_cast<__m512i>(v);
  const auto half = [](__m256i x) { return _mm512_maskz_cvtps_pd(__mmask8(-1), std::bit_cast<__m256>(x)); };
  return {half(_mm512_castsi512_si256(bits)), half(_mm512_maskz_extracti64x4_epi64(__mmask8(-1), bits, 1))};
}
inline Vec<float> narrow(Vec<double> low, Vec<double> high) {
  const auto half = [](Vec<double> v) {
    return std::bit_cast<__m256d>(_mm512_maskz_cvtpd_ps(__mmask8(-1), v));
  };
  return std::bit_cast<Vec<float>>(
      _mm512_maskz_insertf64x4(__mmask8(-1), _mm512_castpd256_pd512(half(low)), half(high), 1));
}
template <NumberOrVec V>
void stream(V v, void* y) {
  _mm512_stream_si512(static_cast<__m512i*>(y), std::bit_cast<__m512i>(v));
}
inline void finish_streams() { _mm_sfence(); }
#elif defined(__AVX2__) && defined(__FMA__)
inline Vec<float> fma(Vec<float> a, Vec<float> b, Vec<float> c) { return _mm256_fmadd_ps(a, b, c); }
inline Vec<double> fma(Vec<double> a, Vec<double> b, Vec<double> c) { return _mm256_fmadd_pd(a, b, c); }
inline Vec<float> sqrt(Vec<float> x) { return _mm256_sqrt_ps(x); }
inline Vec<double> sqrt(Vec<double> x) { return _mm256_sqrt_pd(x); }
inline Vec<float> min(Vec<float> a, Vec<float> b) { return _mm256_min_ps(a, b); }
inline Vec<double> min(Vec<double> a, Vec<double> b) { return _mm256_min_pd(a, b); }
inline Vec<float> max(Vec<float> a, Vec<float> b) { return _mm256_max_ps(a, b); }
inline Vec<double> max(Vec<double> a, Vec<double> b) { return _mm256_max_pd(a, b); }
inline uint64_t lane_bits(FloatMask m) {
  return static_cast<uint64_t>(_mm256_movemask_ps(std::bit_cast<__m256>(m)));
}
inline uint64_t lane_bits(DoubleMask m) {
  return static_cast<uint64_t>(_mm256_movemask_pd(std::bit_cast<__m256d>(m)));
}
inline uint64_t less_bits(Vec<float> a, Vec<float> b) { return lane_bits(a < b); }
inline uint64_t less_bits(Vec<double> a, Vec<double> b) { return lane_bits(a < b); }
inline std::array<Vec<double>, 2> widen(Vec<float> v) {
  return {_mm256_cvtps_pd(_mm256_castps256_ps128(v)), _mm256_cvtps_pd(_mm256_extractf128_ps(v, 1))};
}
inline Vec<float> narrow(Vec<double> low, Vec<double> high) {
  return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm256_cvtpd_ps(low)), _mm256_cvtpd_ps(high), 1);
}
template <NumberOrVec V>
void stream(V v, void* y) {
  _mm256_stream_si256(static_cast<__m256i*>(y), std::bit_cast<__m256i>(v));
}
inline void finish_streams() { _mm_sfence(); }
#elif defined(__aarch64__)
inline Vec<float> fma(Vec<float> a, Vec<float> b, Vec<float> c) { return vfmaq_f32(c, a, b); }
inline Vec<double> fma(Vec<double> a, Vec<double> b, Vec<double> c) { return vfmaq_f64(c, a, b); }
inline Vec<float> sqrt(Vec<float> x) { return vsqrtq_f32(x); }
inline Vec<double> sqrt(Vec<double> x) { return vsqrtq_f64(x); }
inline Vec<float> min(Vec<float> a, Vec<float> b) { return a < b ? a : b; }
inline Vec<double> min(Vec<double> a, Vec<double> b) { return a < b ? a : b; }
inline Vec<float> max(Vec<float> a, Vec<float> b) { return a > b ? a : b; }
inline Vec<double> max(Vec<double> a, Vec<double> b) { return a > b ? a : b; }
inline uint64_t lane_bits(FloatMask m) {
  return vaddvq_u32(std::bit_cast<uint32x4_t>(m) & uint32x4_t{1, 2, 4, 8});
}
inline uint64_t lane_bits(DoubleMask m) {
  return vaddvq_u64(std::bit_cast<uint64x2_t>(m) & uint64x2_t{1, 2});
}
inline uint64_t less_bits(Vec<float> a, Vec<float> b) { return lane_bits(a < b); }
inline uint64_t less_bits(Vec<double> a, Vec<double> b) { return lane_bits(a < b); }
inline std::array<Vec<double>, 2> widen(Vec<float> v) {
  return {vcvt_f64_f32(vget_low_f32(v)), vcvt_high_f64_f32(v)};
}
inline Vec<float> narrow(Vec<double> low, Vec<double> high) {
  return vcvt_high_f32_f64(vcvt_f32_f64(low), high);
}
template <NumberOrVec V>
void stream(V v, void* y) {
  std::memcpy(y, &v, sizeof v);
}
inline void finish_streams() {}
#else
template <class T>
Vec<T> each_fma(Vec<T> a, Vec<T> b, Vec<T> c) {
  for (int l = 0; l < width<T>; ++l) a[l] = std::fma(a[l], b[l], c[l]);
  return a;
}
inline Vec<float> fma(Vec<float> a, Vec<float> b, Vec<float> c) { return each_fma<float>(a, b, c); }
inline Vec<double> fma(Vec<double> a, Vec<double> b, Vec<double> c) { return each_fma<double>(a, b, c); }
inline Vec<float> sqrt(Vec<float> x) {
  for (int l = 0; l < width<float>; ++l) x[l] = std::sqrt(x[l]);
  return x;
}
inline Vec<double> sqrt(Vec<double> x) { return Vec<double>{std::sqrt(x[0]), std::sqrt(x[1])}; }
inline Vec<float> min(Vec<float> a, Vec<float> b) { return a < b ? a : b; }
inline Vec<double> min(Vec<double> a, Vec<double> b) { return a < b ? a : b; }
inline Vec<float> max(Vec<float> a, Vec<float> b) { return a > b ? a : b; }
inline Vec<double> max(Vec<double> a, Vec<double> b) { return a > b ? a : b; }
inline uint64_t lane_bits(FloatMask m) {
  return static_cast<uint64_t>((m[0] & 1) | (m[1] & 2) | (m[2] & 4) | (m[3] & 8));
}
inline uint64_t lane_bits(DoubleMask m) { return static_cast<uint64_t>((m[0] & 1) | (m[1] & 2)); }
inline uint64_t less_bits(Vec<float> a, Vec<float> b) { return lane_bits(a < b); }
inline uint64_t less_bits(Vec<double> a, Vec<double> b) { return lane_bits(a < b); }
inline std::array<Vec<double>, 2> widen(Vec<float> v) {
  return {Vec<double>{v[0], v[1]}, Vec<double>{v[2], v[3]}};
}
inline Vec<float> narrow(Vec<double> low, Vec<double> high) {
  return Vec<float>{static_cast<float>(low[0]), static_cast<float>(low[1]), static_cast<float>(high[0]),
                    static_cast<float>(high[1])};
}
template <NumberOrVec V>
void stream(V v, void* y) {
  std::memcpy(y, &v, sizeof v);
}
inline void finish_streams() {}
#endif

inline std::array<Vec<double>, 1> widen(Vec<double> v) { return {v}; }

// The inverse of lane_bits(): sets lane l where bit l is set.
template <class T>
Mask<Vec<T>> lanes_of(uint64_t bits) {
  kernels::Bits<Vec<T>> lane = {};
  for (int l = 0; l < width<T>; ++l) lane[l] = Bits<T>{1} << l;
  return (static_cast<Bits<T>>(bits) & lane) != 0;
}

// Whether a < b in any lane; in all of them.
template <NumberOrVec V>
bool any_less(V a, V b) {
  if constexpr (std::is_same_v<V, Number<V>>)
    return a < b;
  else
    return less_bits(a, b) != 0;
}
template <NumberOrVec V>
bool all_less(V a, V b) {
  if constexpr (std::is_same_v<V, Number<V>>)
    return a < b;
  else
    return less_bits(a, b) + 1 == uint64_t{1} << width<Number<V>>;
}

}  // namespace isobar::kernels
