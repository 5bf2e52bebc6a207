// Functions on vector registers: how right they are, and that registers of any width give the same bits.
#include <cstring>
#include <functional>

#include "../../autograd/ops.h"
#include "../../autograd/tape.h"
#include "../../core/kernels/elementary.h"
#include "../../core/kernels/relu.h"
#include "../../core/kernels/softmax.h"
#include "../skip.h"
#include "../thread_counts.h"

// Registers of 128 bits with fused multiply-add, which xsimd leaves out where there are wider ones.
#ifdef __FMA__
using FourFloats = isobar::kernels::Own<xsimd::sse4_2>;
namespace xsimd::kernel {
using Floats4 = batch<float, FourFloats>;
using Doubles2 = batch<double, FourFloats>;
template <>
inline Floats4 fma(const Floats4& x, const Floats4& y, const Floats4& z, const generic&) noexcept {
  return _mm_fmadd_ps(x, y, z);
}
template <>
inline Doubles2 fma(const Doubles2& x, const Doubles2& y, const Doubles2& z, const generic&) noexcept {
  return _mm_fmadd_pd(x, y, z);
}
template <>
inline Floats4 fms(const Floats4& x, const Floats4& y, const Floats4& z, const generic&) noexcept {
  return _mm_fmsub_ps(x, y, z);
}
template <>
inline Doubles2 fms(const Doubles2& x, const Doubles2& y, const Doubles2& z, const generic&) noexcept {
  return _mm_fmsub_pd(x, y, z);
}
template <>
inline Floats4 fnma(const Floats4& x, const Floats4& y, const Floats4& z, const generic&) noexcept {
  return _mm_fnmadd_ps(x, y, z);
}
template <>
inline Doubles2 fnma(const Doubles2& x, const Doubles2& y, const Doubles2& z, const generic&) noexcept {
  return _mm_fnmadd_pd(x, y, z);
}
}  // namespace xsimd::kernel

namespace isobar::kernels {

template <class T>
struct RegisterOf<T, 128> {
  using type = xsimd::batch<T, FourFloats>;
};
#ifdef __AVX512F__
template <class T>
struct RegisterOf<T, 256> {
  using type = xsimd::batch<T, xsimd::fma3<xsimd::avx2>>;
};
#endif
}  // namespace isobar::kernels
#endif

namespace isobar::vmath_test {

TEST_CASE_TEMPLATE("relu's gate of bits lets pass what a comparison does, at any length", T, float, double) {
  const T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  for (const int64_t n : {0, 1, 15, 16, 17, 63, 64, 65, 511, 513, 100'001}) {
    std::vector<T> x = Rng(1).normal({n}, 0, 1, dtype_of<T>()).template to_vector<T>();
    const std::vector<T> dy = Rng(2).normal({n}, 0, 1, dtype_of<T>()).template to_vector<T>();
    const T odd[] = {nan, inf, -inf, T{0}, -T{0}, std::numeric_limits<T>::denorm_min()};
    for (size_t i = 0; i < x.size(); i += 7) x[i] = odd[i % 6];
    CAPTURE(n);
    for_thread_counts([&] {
      std::vector<T> y(x.size()), dx = dy;
      std::vector<int64_t> gate(static_cast<size_t>(kernels::gate_words(n)));
      kernels::relu(n, x.data(), y.data(), gate.data());
      kernels::relu_backward(n, gate.data(), dx.data(), dx.data());
      int64_t wrong = 0;
      for (size_t i = 0; i < x.size(); ++i) {
        const T up = x[i] <= 0 ? T{0} : x[i], down = x[i] <= 0 ? T{0} : dy[i];
        wrong += std::memcmp(&y[i], &up, sizeof(T)) != 0 || std::memcmp(&dx[i], &down, sizeof(T)) != 0;
      }
      CHECK(wrong == 0);
    });
  }
}

TEST_CASE("softmax's exponential has the bits of xsimd's wherever softmax takes it") {
  using kernels::Register;
  const auto bits = [](const Register<float>& v) {
    float each[kernels::width<float>];
    v.store_unaligned(each);
    return std::isnan(each[0]) ? ~0u : std::bit_cast<uint32_t>(each[0]);
  };
  int64_t wrong = 0;
  const auto compare = [&](float x) {
    const Register<float> v(x);
    wrong += bits(kernels::exp_below_one<float>(v)) != bits(xsimd::exp(v));
  };
  for (const float x : {0.0f, -0.0f, -1e30f, -std::numeric_limits<float>::infinity(), std::nanf("")})
    compare(x);
  for (float x = -1e-30f; x > -1e10f; x *= 1.0005f) compare(x);
  for (float x = -87; x > -89; x -= 1e-5f) compare(x);  // results below the smallest normal number
  CHECK(wrong == 0);
}

TEST_CASE("relu of a long tensor does what it does to its halves, to second order") {
  const int64_t half = 200'000;  // two halves make the gate of bits worth it
  const auto leaf = [&](uint64_t seed) { return Rng(seed).normal({2, half}).set_trainable(); };
  const Tensor x = leaf(1), dy = leaf(2), u = leaf(3);
  const auto first_and_second = [&](const std::function<Tensor(const Tensor&)>& f) {
    Tape tape({.higher_order = true});
    const Tensor y = f(x), dx = tape.gradient(y, {x}, dy)[0], ddy = tape.gradient(dx, {dy}, u)[0];
    return std::vector{y.to_vector<float>(), dx.to_vector<float>(), ddy.to_vector<float>()};
  };
  const auto whole = first_and_second([](const Tensor& v) { return relu(v); });
  const auto halves = first_and_second([](const Tensor& v) {
    return concat({relu(slice(v, 0, 0, 1)), relu(slice(v, 0, 1, 2))}, 0);
  });
  CHECK(whole == halves);
}

TEST_CASE("tanh and erf of floats are right to a relative 5e-7, odd, and at most 1") {
  using kernels::Register;
  struct Function {
    Register<float> (*fast)(const Register<float>&);
    double (*exact)(double);
  };
  for (const Function& function : {Function{kernels::tanh, std::tanh}, Function{kernels::erf, std::erf}}) {
    const auto at = [&](float x) {
      float y[kernels::width<float>];
      function.fast(Register<float>(x)).store_unaligned(y);
      return y[0];
    };
    double worst = 0;
    for (float x = 1e-30f; x < 20; x *= 1.0005f) {
      const double exact = function.exact(static_cast<double>(x));
      worst = std::max(worst, std::abs(static_cast<double>(at(x)) / exact - 1));
      CHECK(at(-x) == -at(x));
      CHECK(at(x) <= 1);
    }
    CHECK(worst <= 5e-7);
  }
}

// Numbers of every sign and exponent, infinities and NaN, and many near the places where functions change
// their formula. A multiple of 16.
template <class T>
std::vector<T> numbers_of_all_sizes() {
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  constexpr int64_t count = int64_t{1} << 16;
  std::vector<T> x;
  Bits bits = 0;
  for (int64_t i = 0; i < count; ++i, bits += std::numeric_limits<Bits>::max() / count | 1)
    x.push_back(std::bit_cast<T>(bits));
  for (int64_t i = 0; i < count; ++i) x.push_back(static_cast<T>(-20 + 40 * static_cast<double>(i) / count));
  for (const double edge :
       {0.0,    1e-8,   1e-4,   0.1716, 0.2,    0.25,   0.3466,  0.375,   0.4142, 0.5,    0.6931,
        0.7071, 0.7854, 0.9,    1.0,    1.0397, 1.4142, 1.5708,  2.0,     3.1416, 4.0,    9.0,
        18.714, 37.0,   87.336, 88.376, 88.722, 103.97, 708.396, 709.782, 745.13, 8192.0, 1e9})
    for (const double sign : {1.0, -1.0}) {
      T value = static_cast<T>(sign * edge);
      for (int i = 0; i < 16; ++i) value = std::nextafter(value, std::numeric_limits<T>::lowest());
      for (int i = 0; i < 32; ++i, value = std::nextafter(value, std::numeric_limits<T>::max()))
        x.push_back(value);
    }
  for (const T odd :
       {std::numeric_limits<T>::infinity(), -std::numeric_limits<T>::infinity(),
        std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::denorm_min(), T(-0.0), T{0}})
    x.insert(x.end(), 16, odd);
  std::vector<T> mixed(x.size());  // so that neighbours are of different sizes
  for (size_t i = 0; i < x.size(); ++i) mixed[i] = x[i * 100003 % x.size()];
  return mixed;
}

// y = f(x, its mirror image), in registers of one width.
template <class T, int bits, class F>
std::vector<T> in_lanes(const std::vector<T>& x, const F& f) {
  using L = kernels::Lane<T, bits>;
  std::vector<T> y(x.size()), z(x.rbegin(), x.rend());
  for (size_t i = 0; i < x.size(); i += L::V::size)
    L(f(L(L::V::load_unaligned(&x[i])), L(L::V::load_unaligned(&z[i])))).v.store_unaligned(&y[i]);
  return y;
}

// Fails where an element of y has other bits; all NaNs count as one.
template <class T>
void check_same_bits(const std::string& what, const std::vector<T>& x, const std::vector<T>& y,
                     const std::vector<T>& of_four) {
  size_t others = 0, at = 0;
  for (size_t i = 0; i < x.size(); ++i)
    if (std::memcmp(&y[i], &of_four[i], sizeof(T)) != 0 && !(std::isnan(y[i]) && std::isnan(of_four[i])) &&
        others++ == 0)
      at = i;
  CHECK_MESSAGE(others == 0, what, ": ", others, " of ", x.size(), " numbers; of ", x[at], " it is ", y[at],
                " and ", of_four[at]);
}

TEST_CASE_TEMPLATE("a formula has the same bits in registers of 128, 256 and 512 bits", T, float, double) {
#if XSIMD_WITH_FMA3_AVX2
  const std::vector<T> x = numbers_of_all_sizes<T>();
  const auto row = [&](const std::string& name, const auto& f) {
    const std::vector<T> of_four = in_lanes<T, 128>(x, f);
    check_same_bits(name + " in 256 bits", x, in_lanes<T, 256>(x, f), of_four);
    check_same_bits(name + " in the machine's own", x, in_lanes<T, kernels::machine_bits>(x, f), of_four);
  };
  row("maximum", [](auto a, auto b) { return maximum(a, b); });
  row("minimum", [](auto a, auto b) { return minimum(a, b); });
  row("isru", [](auto a, auto b) { return isru(a, abs(b)); });
  row("comparisons", [](auto a, auto b) {
    return where((a < b && a != b) || !(a >= 1) || a == 2, a, where(a > b || a <= -1, b, 3));
  });
  row("exp", [](auto a, auto) { return exp(a); });
  row("expm1", [](auto a, auto) { return expm1(a); });
  row("log", [](auto a, auto) { return log(a); });
  row("log1p", [](auto a, auto) { return log1p(a); });
  row("sin", [](auto a, auto) { return sin(a); });
  row("cos", [](auto a, auto) { return cos(a); });
  row("tanh", [](auto a, auto) { return tanh(a); });
  row("erf", [](auto a, auto) { return erf(a); });
  row("sigmoid", [](auto a, auto) { return sigmoid(a); });
  row("silu", [](auto a, auto) { return silu(a); });
  row("rsqrt", [](auto a, auto) { return rsqrt(a); });
  row("softplus", [](auto a, auto) { return softplus(a); });
  row("pow", [](auto a, auto) { return pow(a, 2.5); });
#else
  skip("this build has no fused multiply-add (ISOBAR_ARCH)");
#endif
#ifndef __AVX512F__
  skip("this build has no registers of 512 bits (ISOBAR_ARCH)");
#endif
}

}  // namespace isobar::vmath_test
