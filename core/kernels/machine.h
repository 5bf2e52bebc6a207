// Register<T>: a vector register of the machine, as xsimd has it, and what xsimd 8 gets wrong put right: with
// these, AVX2, AVX-512 and NEON compute the same bits.
#pragma once

#include <cstdint>

#pragma GCC diagnostic push
// g++ 12 finds its own AVX-512 intrinsics uninitialized (GCC bug 105593).
#pragma GCC diagnostic ignored "-Wuninitialized"
#ifndef __clang__  // clang has no such warning
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <xsimd/xsimd.hpp>

namespace isobar::kernels {

// The instructions that the compiler's options allow, under a name of the library's own: xsimd's functions
// are compiled for it apart from those of a program that uses xsimd too, with other options perhaps, and the
// order of includes does not matter.
template <class Arch>
struct Own : Arch {};
using Machine = Own<xsimd::default_arch>;

template <class T>
using Register = xsimd::batch<T, Machine>;

template <class T>
inline constexpr int64_t width = static_cast<int64_t>(Register<T>::size);

}  // namespace isobar::kernels

namespace xsimd {
namespace types {
template <class T, class Arch>
struct simd_register<T, isobar::kernels::Own<Arch>> : simd_register<T, Arch> {
  using register_type = typename simd_register<T, Arch>::register_type;
  simd_register() = default;
  simd_register(register_type numbers) noexcept : simd_register<T, Arch>{numbers} {}
};
template <class T, class Arch>
struct has_simd_register<T, isobar::kernels::Own<Arch>> : has_simd_register<T, Arch> {};
template <class T, class Arch>
struct get_bool_simd_register<T, isobar::kernels::Own<Arch>> : get_bool_simd_register<T, Arch> {};
}  // namespace types

namespace kernel {
using isobar::kernels::Machine;
using Floats = batch<float, Machine>;
using Doubles = batch<double, Machine>;

// xsimd 8 has no fused multiply-add for AVX-512, and for NEON not all kinds of it: it multiplies and adds,
// which costs its functions half their speed, and gives them other bits than AVX2's.
#ifdef __AVX512F__
template <>
inline Floats fma(const Floats& x, const Floats& y, const Floats& z, const generic&) noexcept {
  return _mm512_fmadd_ps(x, y, z);
}
template <>
inline Doubles fma(const Doubles& x, const Doubles& y, const Doubles& z, const generic&) noexcept {
  return _mm512_fmadd_pd(x, y, z);
}
template <>
inline Floats fms(const Floats& x, const Floats& y, const Floats& z, const generic&) noexcept {
  return _mm512_fmsub_ps(x, y, z);
}
template <>
inline Doubles fms(const Doubles& x, const Doubles& y, const Doubles& z, const generic&) noexcept {
  return _mm512_fmsub_pd(x, y, z);
}
template <>
inline Floats fnma(const Floats& x, const Floats& y, const Floats& z, const generic&) noexcept {
  return _mm512_fnmadd_ps(x, y, z);
}
template <>
inline Doubles fnma(const Doubles& x, const Doubles& y, const Doubles& z, const generic&) noexcept {
  return _mm512_fnmadd_pd(x, y, z);
}
template <>
inline Floats fnms(const Floats& x, const Floats& y, const Floats& z, const generic&) noexcept {
  return _mm512_fnmsub_ps(x, y, z);
}
template <>
inline Doubles fnms(const Doubles& x, const Doubles& y, const Doubles& z, const generic&) noexcept {
  return _mm512_fnmsub_pd(x, y, z);
}
#endif

#ifdef __aarch64__
template <>
inline Floats fnma(const Floats& x, const Floats& y, const Floats& z, const generic&) noexcept {
  return vfmsq_f32(z, x, y);
}
template <>
inline Doubles fnma(const Doubles& x, const Doubles& y, const Doubles& z, const generic&) noexcept {
  return vfmsq_f64(z, x, y);
}
template <>
inline Floats fnms(const Floats& x, const Floats& y, const Floats& z, const generic&) noexcept {
  return vnegq_f32(vfmaq_f32(z, x, y));
}
template <>
inline Doubles fnms(const Doubles& x, const Doubles& y, const Doubles& z, const generic&) noexcept {
  return vnegq_f64(vfmaq_f64(z, x, y));
}
// xsimd's are approximations.
template <>
inline Floats div(const Floats& x, const Floats& y, const neon&) noexcept {
  return vdivq_f32(x, y);
}
template <>
inline Floats sqrt(const Floats& x, const neon&) noexcept {
  return vsqrtq_f32(x);
}
// xsimd's give registers of its own architecture.
template <>
inline Floats broadcast(float x, const neon64&) noexcept {
  return vdupq_n_f32(x);
}
template <>
inline batch<int32_t, Machine> broadcast(int32_t x, const neon64&) noexcept {
  return vdupq_n_s32(x);
}
template <>
inline batch<int64_t, Machine> broadcast(int64_t x, const neon64&) noexcept {
  return vdupq_n_s64(x);
}
#endif
}  // namespace kernel
}  // namespace xsimd
#pragma GCC diagnostic pop
