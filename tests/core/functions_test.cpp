// The functions of functions.h: against the definition, against the C library in higher precision, and an
// element among neighbours against the element alone.
#include "../../core/kernels/functions.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "../spec/spec.h"

namespace isobar::functions_test {

using kernels::Vec;
using kernels::width;

// Numbers of every sign and exponent, infinities and NaN, many of the sizes that occur, and many near the
// places where a function changes its formula. A multiple of 16, neighbours of different sizes.
template <class T>
std::vector<T> numbers_of_all_sizes() {
  using Bits = kernels::Bits<T>;
  constexpr int64_t count = int64_t{1} << 16;
  std::vector<T> x;
  Bits bits = 0;
  for (int64_t i = 0; i < count; ++i, bits += std::numeric_limits<Bits>::max() / count | 1)
    x.push_back(std::bit_cast<T>(bits));
  for (const double size : {1.0, 20.0, 100.0, 720.0, 1e5, 1e7})
    for (int64_t i = 0; i < count; ++i)
      x.push_back(static_cast<T>(size * (2 * static_cast<double>(i) / count - 1)));
  for (const double edge :
       {0.0,    1e-8,   1e-4,   0.1716,  0.2,     0.25,   0.3466, 0.375,  0.4142,   0.5,
        0.625,  0.65,   0.6931, 0.7071,  0.7854,  0.9,    1.0,    1.0397, 1.4142,   1.5708,
        2.0,    2.2,    3.1416, 4.0,     6.0,     9.0,    18.714, 37.0,   65536.,   87.336,
        88.376, 88.722, 103.97, 708.396, 709.782, 745.13, 8192.0, 1e9,    1048576., 1e-310})
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
  std::vector<T> mixed(x.size());
  for (size_t i = 0; i < x.size(); ++i) mixed[i] = x[i * 100003 % x.size()];
  return mixed;
}

template <class T, class F>
std::vector<T> in_registers(const std::vector<T>& x, const F& f) {
  std::vector<T> y(x.size());
  for (size_t i = 0; i < x.size(); i += width<T>) kernels::store(f(kernels::load(&x[i])), &y[i]);
  return y;
}
template <class T, class F>
std::vector<T> one_by_one(const std::vector<T>& x, const F& f) {
  std::vector<T> y(x.size());
  for (size_t i = 0; i < x.size(); ++i) y[i] = f(x[i]);
  return y;
}

// Fails where an element of y has other bits than that of `wanted`; all NaNs count as one.
template <class T>
void check_same_bits(const std::string& name, const std::vector<T>& x, const std::vector<T>& y,
                     const std::vector<T>& wanted) {
  size_t others = 0, at = 0;
  for (size_t i = 0; i < x.size(); ++i)
    if (std::bit_cast<kernels::Bits<T>>(y[i]) != std::bit_cast<kernels::Bits<T>>(wanted[i]) &&
        !(std::isnan(y[i]) && std::isnan(wanted[i])) && others++ == 0)
      at = i;
  CHECK_MESSAGE(others == 0, name, ": ", others, " of ", x.size(), " numbers; of ", x[at], " it is ", y[at],
                " and ", wanted[at]);
}

TEST_CASE_TEMPLATE("a function gives a number the same bits alone and among others in a register", T, float,
                   double) {
  const std::vector<T> x = numbers_of_all_sizes<T>();
  const auto row = [&](const std::string& name, const auto& f) {
    check_same_bits(name, x, in_registers(x, f), one_by_one(x, f));
  };
  row("exp", [](auto v) { return kernels::exp(v); });
  row("expm1", [](auto v) { return kernels::expm1(v); });
  row("log", [](auto v) { return kernels::log(v); });
  row("log1p", [](auto v) { return kernels::log1p(v); });
  row("sin", [](auto v) { return kernels::sin(v); });
  row("cos", [](auto v) { return kernels::cos(v); });
  row("tanh", [](auto v) { return kernels::tanh(v); });
  row("erf", [](auto v) { return kernels::erf(v); });
  row("sqrt", [](auto v) { return kernels::sqrt(v); });
  for (const double y : {2.5, -0.5, 3.0, -1.0, 0.0, 1.0 / 3, 17.0, 1e9})
    row("pow " + std::to_string(y),
        [y]<class V>(V v) { return kernels::pow(v, kernels::splat<V>(static_cast<T>(y))); });
  row("a number to its own power", [](auto v) { return kernels::pow(v, v); });
}

TEST_CASE_TEMPLATE("exp, log, tanh and erf are those of the definition to the bit", T, float, double) {
  const std::vector<T> x = numbers_of_all_sizes<T>();
  const auto row = [&](const std::string& name, const auto& f, const auto& defined) {
    check_same_bits(name, x, one_by_one(x, f), one_by_one(x, defined));
  };
  row(
      "exp", [](T v) { return kernels::exp(v); }, [](T v) { return spec::exp(v); });
  row(
      "log", [](T v) { return kernels::log(v); }, [](T v) { return spec::log(v); });
  row(
      "tanh", [](T v) { return kernels::tanh(v); }, [](T v) { return spec::tanh(v); });
  row(
      "erf", [](T v) { return kernels::erf(v); }, [](T v) { return spec::erf(v); });
}

TEST_CASE("sin, cos and pow of f64 are those of the definition to the bit, where it has them") {
  std::vector<double> angles, bases;
  for (const double v : numbers_of_all_sizes<double>()) {
    if (std::abs(v) <= 0x1p20) angles.push_back(v);
    if (v > 0 && std::isnormal(v)) bases.push_back(v);
  }
  const auto one = [](const char* name, const std::vector<double>& x, const auto& f, const auto& defined) {
    check_same_bits(name, x, one_by_one(x, f), one_by_one(x, defined));
  };
  one(
      "sin", angles, [](double v) { return kernels::sin(v); }, [](double v) { return spec::sin(v); });
  one(
      "cos", angles, [](double v) { return kernels::cos(v); }, [](double v) { return spec::cos(v); });
  for (const double y : {2.5, -0.5, 1.0, -1.0 / 3, 0.01}) {
    std::vector<double> x;
    for (const double v : bases)
      if (std::abs(y * std::log(v)) < 708) x.push_back(v);
    one(
        "pow", x, [y](double v) { return kernels::pow(v, y); }, [y](double v) { return spec::pow(v, y); });
  }
}

// The largest distance of f from the exact function, in units in the last place of the exact result. The
// exact function is the C library's in long double, which has 11 bits more than double on x86-64 and 60 on
// ARM64. Left out are results that are not normal numbers.
template <class T, class F, class Exact>
double largest_error(const std::vector<T>& x, const F& f, const Exact& exact) {
  double worst = 0;
  for (const T v : x) {
    const long double wanted = exact(static_cast<long double>(v));
    const T rounded = static_cast<T>(wanted);
    if (!std::isnormal(rounded)) continue;
    int exponent;
    std::frexp(rounded, &exponent);
    const long double unit = std::ldexp(1.0L, exponent - std::numeric_limits<T>::digits);
    const double error = static_cast<double>(std::abs((static_cast<long double>(f(v)) - wanted) / unit));
    if (!(error <= worst)) worst = error;
  }
  return worst;
}

TEST_CASE_TEMPLATE("no function is further from the exact one than functions.h says", T, float, double) {
  constexpr bool single = sizeof(T) == 4;
  const std::vector<T> x = numbers_of_all_sizes<T>();
  const auto row = [&](const char* name, double in_float, double in_double, const auto& f,
                       const auto& exact) {
    const double error = largest_error(x, f, exact);
    CHECK_MESSAGE(error <= (single ? in_float : in_double), name, ": ", error, " ulp");
  };
  using Long = long double;
  row(
      "exp", 1.6, 0.9, [](T v) { return kernels::exp(v); }, [](Long v) { return std::exp(v); });
  row(
      "expm1", 2, 2, [](T v) { return kernels::expm1(v); }, [](Long v) { return std::expm1(v); });
  row(
      "log", 0.9, 0.8, [](T v) { return kernels::log(v); }, [](Long v) { return std::log(v); });
  row(
      "log1p", 0.9, 0.8, [](T v) { return kernels::log1p(v); }, [](Long v) { return std::log1p(v); });
  row(
      "sin", 1.5, 1.5, [](T v) { return kernels::sin(v); }, [](Long v) { return std::sin(v); });
  row(
      "cos", 1.5, 1.5, [](T v) { return kernels::cos(v); }, [](Long v) { return std::cos(v); });
  row(
      "tanh", 5, 1.3, [](T v) { return kernels::tanh(v); }, [](Long v) { return std::tanh(v); });
  row(
      "erf", 6, 70, [](T v) { return kernels::erf(v); }, [](Long v) { return std::erf(v); });
  for (const double power : {2.5, -0.5, 3.0, -1.0, 1.0 / 3, 17.0, 1e4}) {
    CAPTURE(power);
    const T y = static_cast<T>(power);
    row(
        "pow", 0.6, 1, [y](T v) { return kernels::pow(v, y); },
        [y](Long v) { return std::pow(v, static_cast<Long>(y)); });
  }
}

TEST_CASE_TEMPLATE("functions of 0, of infinities and of NaN are those of the C library", T, float, double) {
  constexpr T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  const std::vector<T> x{T{0}, T(-0.0), inf, -inf, nan};
  const auto row = [&](const char* name, const auto& f, const auto& exact) {
    check_same_bits<T>(name, x, one_by_one(x, f), one_by_one(x, exact));
  };
  row(
      "exp", [](T v) { return kernels::exp(v); }, [](T v) { return std::exp(v); });
  row(
      "log", [](T v) { return kernels::log(v); }, [](T v) { return std::log(v); });
  row(
      "sin", [](T v) { return kernels::sin(v); }, [](T v) { return std::sin(v); });
  row(
      "cos", [](T v) { return kernels::cos(v); }, [](T v) { return std::cos(v); });
  row(
      "tanh", [](T v) { return kernels::tanh(v); }, [](T v) { return std::tanh(v); });
  row(
      "erf", [](T v) { return kernels::erf(v); }, [](T v) { return std::erf(v); });
  for (const T y : {T(2), T(3), T(-2), T(-3), T(0.5), T(-0.5), T(0), inf, -inf, nan}) {
    CAPTURE(y);
    row(
        "pow", [y](T v) { return kernels::pow(v, y); }, [y](T v) { return std::pow(v, y); });
  }
  CHECK(std::isnan(kernels::pow(T(-8), T(1) / 3)));
  CHECK(kernels::pow(T(-1), inf) == 1);
  CHECK(kernels::pow(T(1), nan) == 1);
  CHECK(kernels::pow(T(-2), T(1e6) + 1) == -inf);
}

// Exact values to 17 digits, computed with Python's decimal.
TEST_CASE("exp and expm1 overflow where the exact result exceeds the largest number") {
  constexpr float inf = std::numeric_limits<float>::infinity();
  CHECK(kernels::exp(88.5f) == doctest::Approx(2.7230878250681161e+38).epsilon(2e-7));
  CHECK(kernels::exp(0x1.62e42ep6f) == doctest::Approx(3.4027985374118487e+38).epsilon(2e-7));
  CHECK(kernels::expm1(0x1.62e42ep6f) == doctest::Approx(3.4027985374118487e+38).epsilon(2e-7));
  CHECK(kernels::exp(0x1.62e430p6f) == inf);  // 3.4028244988034357e+38; the largest float is 3.4028234664e+38
  CHECK(kernels::expm1(0x1.62e430p6f) == inf);
  CHECK(kernels::exp(709.5) == doctest::Approx(1.3549863193146328e+308).epsilon(1e-15));
  CHECK(kernels::exp(0x1.62e42fefa39efp9) == doctest::Approx(1.7976931348622732e+308).epsilon(1e-15));
  CHECK(kernels::expm1(0x1.62e42fefa39efp9) == doctest::Approx(1.7976931348622732e+308).epsilon(1e-15));
  CHECK(kernels::exp(0x1.62e42fefa39f0p9) == inf);
  CHECK(kernels::expm1(0x1.62e42fefa39f0p9) == inf);
}

TEST_CASE("exp is 0 exactly where the exact result is below the smallest normal number") {
  CHECK(kernels::exp(-0x1.5d589ep6f) == doctest::Approx(1.1754996739254907e-38).epsilon(2e-7));
  CHECK(kernels::exp(-0x1.5d58a0p6f) ==
        0);  // 1.1754907056e-38; the smallest normal float is 1.1754943508e-38
  CHECK(kernels::exp(-0x1.6232bdd7abcd2p9) == doctest::Approx(2.2250738585072625e-308).epsilon(1e-15));
  CHECK(kernels::exp(-0x1.6232bdd7abcd3p9) == 0);  // 2.2250738585070096e-308, of 2.2250738585072014e-308
}

TEST_CASE("a NaN with any bits stays NaN") {
  for (const uint32_t low : {0u, 1u, 127u, 129u, 255u, 511u}) {
    CHECK(std::isnan(kernels::exp(std::bit_cast<float>(0x7fc00000 | low))));
    CHECK(std::isnan(kernels::expm1(std::bit_cast<float>(0xffc00000 | low))));
    CHECK(std::isnan(kernels::exp(std::bit_cast<double>(0x7ff8000000000000 | low))));
    CHECK(std::isnan(kernels::expm1(std::bit_cast<double>(0xfff8000000000000 | low))));
  }
}

TEST_CASE("log of f64 is right below the smallest normal number, and erf where squares overflow") {
  CHECK(kernels::log(1e-310) == doctest::Approx(-713.80137882815417).epsilon(1e-15));
  CHECK(kernels::log(5e-324) == doctest::Approx(-744.44007192138126).epsilon(1e-15));
  for (const double x : {6.0, 10.0, 1e62, 1e75, 1e200, 1e300, std::numeric_limits<double>::max(),
                         std::numeric_limits<double>::infinity()}) {
    CHECK(kernels::erf(x) == 1);
    CHECK(kernels::erf(-x) == -1);
  }
}

TEST_CASE_TEMPLATE("the bits of lanes come back as lanes, and a part of a register as that part", T, float,
                   double) {
  T x[width<T>], y[width<T> + 1];
  for (int64_t count = 0; count < width<T>; ++count) {
    for (int64_t l = 0; l < width<T>; ++l) x[l] = l < count ? T(l + 1) : T(-1);
    const Vec<T> v = kernels::load(x);
    CHECK(kernels::lane_bits(v > 0) == (uint64_t{1} << count) - 1);
    kernels::store(kernels::select(kernels::lanes_of<T>(kernels::lane_bits(v > 0)), v, Vec<T>{}), y);
    for (int64_t l = 0; l < width<T>; ++l) CHECK(y[l] == (l < count ? x[l] : 0));
    std::fill_n(y, width<T> + 1, T(-2));
    kernels::store_part<T>(kernels::load_part(x, count), y, count);
    for (int64_t l = 0; l <= width<T>; ++l) CHECK(y[l] == (l < count ? x[l] : -2));
  }
}

TEST_CASE("a register of floats is two of doubles and back") {
  float x[width<float>], y[width<float>];
  double wide[width<float>];
  for (int64_t l = 0; l < width<float>; ++l) x[l] = 1 / static_cast<float>(l + 1);
  const auto parts = kernels::widen(kernels::load(x));
  kernels::store(parts[0], wide);
  kernels::store(parts[1], wide + width<double>);
  kernels::store(kernels::narrow(parts[0], parts[1]), y);
  for (int64_t l = 0; l < width<float>; ++l) CHECK((wide[l] == static_cast<double>(x[l]) && y[l] == x[l]));
}

}  // namespace isobar::functions_test
