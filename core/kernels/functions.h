// The elementary functions, each written once for a number and for a vector register, in float and double:
// exp, expm1, log, log1p, pow, sin, cos, tanh and erf. An element's bits depend on the element alone: not on
// its neighbours, and not on the machine. tests/spec/spec.h, which is independent of this file, defines them.
//
//   double a = log(2.0);  Vec<float> y = exp(load(x));
//
// The largest errors that tests/core/functions_test.cpp finds, in units in the last place (ulp) of the
// result:
//
//             exp   expm1   log   log1p   pow   sin, cos   tanh   erf
//   float     1.6   2.0     0.9   0.9     0.6   1.5        5.0    6.0
//   double    0.9   2.0     0.8   0.8     1.0   1.5        1.3    70
//
// exp is 0 where the exact result is below the smallest normal number (x < −87.3365 in float, −708.396 in
// double), and exp and expm1 are ∞ where it exceeds the largest number (88.7228, 709.783). NaN gives NaN.
#pragma once

#include <limits>

#include "vec.h"

namespace isobar::kernels {

// --- parts of the functions

// c₀ + x (c₁ + x (c₂ + …)), one fused multiply-add a step.
template <NumberOrVec V, class... Rest>
V horner(V x, Number<V> c, Rest... rest) {
  if constexpr (sizeof...(rest) == 0)
    return splat<V>(c);
  else
    return fma(x, horner(x, rest...), splat<V>(c));
}

template <class V>
inline constexpr bool of_floats = std::is_same_v<Number<V>, float>;
// A number's bits are its sign, an exponent with a bias, and its fraction.
template <class V>
inline constexpr int fraction_bits = of_floats<V> ? 23 : 52;
template <class V>
inline constexpr Bits<Number<V>> exponent_bias = of_floats<V> ? 127 : 1023;
template <class V>
inline constexpr Number<V> infinity = std::numeric_limits<Number<V>>::infinity();

// The integer k that is nearest to c x, |c x| < 2²², as 1.5 · 2²³ + k (in double, 1.5 · 2⁵² + k): a number with
// k in the lowest bits of its fraction. (A struct of k as a number and as bits would pass through memory with
// g++ 12.)
template <class V>
inline constexpr Number<V> integer_shift = of_floats<V> ? Number<V>(0x1.8p23) : Number<V>(0x1.8p52);
template <NumberOrVec V>
V shifted_integer(Number<V> c, V x) {
  return fma(x, splat<V>(c), splat<V>(integer_shift<V>));
}
template <NumberOrVec V>
V number_of(V shifted) {
  return shifted - integer_shift<V>;
}
template <NumberOrVec V>
V shifted_bits(Bits<V> k) {
  return of_bits<V>(k + std::bit_cast<Bits<Number<V>>>(integer_shift<V>));
}
// 2ᵏ, and 2⁻ᵏ, of a shifted k. 2ᵏ is 0 for the k below the smallest exponent.
template <NumberOrVec V>
V power_of_two(V shifted) {
  return of_bits<V>((bits_of(shifted) + exponent_bias<V>) << fraction_bits<V>);
}
template <NumberOrVec V>
V inverse_power_of_two(V shifted) {
  return of_bits<V>((exponent_bias<V> - bits_of(shifted)) << fraction_bits<V>);
}
// x · 2ᵏ, where x and the result are normal numbers or k is 0: adds k to the exponent.
template <NumberOrVec V>
V times_power_of_two(V x, V shifted) {
  return of_bits<V>(bits_of(x) + (bits_of(shifted) << fraction_bits<V>));
}
// The sign bit of x, and x with the signs of two numbers multiplied.
template <NumberOrVec V>
Bits<V> sign_of(V x) {
  return bits_of(x) & bits_of(splat<V>(Number<V>(-0.0)));
}
template <NumberOrVec V>
V with_sign(V x, Bits<V> sign) {
  return of_bits<V>(bits_of(x) ^ sign);
}

// ln 2 in two parts, the first with zeros at its end, so that its product with a small integer is exact.
template <class V>
inline constexpr Number<V> ln2_high = of_floats<V> ? Number<V>(0x1.63p-1) : Number<V>(0x1.62e42feep-1);
template <class V>
inline constexpr Number<V> ln2_low = of_floats<V> ? Number<V>(-0x1.bd0106p-13)
                                                  : Number<V>(0x1.a39ef35793c76p-33);
// The logarithms of the smallest normal and of the largest number, rounded towards zero.
template <class V>
inline constexpr Number<V> log_of_smallest = of_floats<V> ? Number<V>(-0x1.5d589ep6)
                                                          : Number<V>(-0x1.6232bdd7abcd2p9);
template <class V>
inline constexpr Number<V> log_of_largest = of_floats<V> ? Number<V>(0x1.62e42ep6)
                                                         : Number<V>(0x1.62e42fefa39efp9);
template <class V>
inline constexpr Number<V> log2_e = of_floats<V> ? Number<V>(1.44269504f) : Number<V>(0x1.71547652b82fep0);

// --- exp, expm1

// e^(x + low) / 2ᵏ for doubles, low much smaller than x, with the shifted k nearest to x / ln 2: where r = x
// − k ln 2, e^r = 1 + r + r c / (2 − c) (Remez's approximation of r (e^r + 1) / (e^r − 1), from FreeBSD's
// e_exp.c).
template <NumberOrVec V>
[[gnu::always_inline]] inline V exp_of_rest(V x, V low, V shifted) {
  const V k = number_of(shifted);
  const V high = fma(k, splat<V>(-ln2_high<V>), x), rest = k * ln2_low<V> - low;
  const V r = high - rest, t = r * r;
  const V c = fma(t,
                  horner(t, -0x1.555555555553ep-3, 0x1.6c16c16bebd93p-9, -0x1.1566aaf25de2cp-14,
                         0x1.bbd41c5d26bf1p-20, -0x1.6376972bea4d0p-25),
                  r);
  return 1.0 - ((rest - r * c / (2.0 - c)) - high);
}

// eˣ = 2ᵏ eʳ, where r = x − k ln 2 is at most ln 2 / 2 from zero.
template <NumberOrVec V>
[[gnu::always_inline]] inline V exp(V x) {
  const V shifted = shifted_integer(log2_e<V>, x);
  V y;
  if constexpr (of_floats<V>) {
    const V k = number_of(shifted);
    const V r = fma(k, splat<V>(-ln2_low<V>), fma(k, splat<V>(-ln2_high<V>), x));
    const V p = horner(r, 0.5f, 0x1.55534ap-3f, 0x1.5552aep-5f, 0x1.131b16p-7f, 0x1.6ef19ep-10f);
    y = fma(p, r * r, r) + 1.0f;
  } else {
    y = exp_of_rest(x, V{}, shifted);
  }
  y = select(x >= log_of_smallest<V>, times_power_of_two(y, shifted), V{});
  return select(x <= log_of_largest<V>, y, x + infinity<V>);
}

// eˣ − 1 = 2ᵏ (1 − 2⁻ᵏ − (e − r)), where e − r is 1 − eʳ (FreeBSD's s_expm1.c), of a shifted k and 2⁻ᵏ.
template <NumberOrVec V>
[[gnu::always_inline]] inline V expm1_of(V x, V shifted, V power) {
  const V k = number_of(shifted);
  V y;
  if constexpr (of_floats<V>) {
    const V r = fma(k, splat<V>(-ln2_low<V>), fma(k, splat<V>(-ln2_high<V>), x));
    const V half = r * 0.5f, z = r * half;
    const V p = horner(z, 1.0f, -0x1.1110fep-5f, 0x1.9edb68p-10f), t = fma(-p, half, splat<V>(3.0f));
    const V e = fma(r, z * ((p - t) / (6.0f - r * t)), -z);
    y = 1.0f - power - (e - r);
  } else {
    const V high = fma(k, splat<V>(-ln2_high<V>), x), low = k * ln2_low<V>;
    const V r = high - low, z = r * r * 0.5;
    const V p = horner(z, 1.0, -0x1.11111111110f4p-5, 0x1.a01a019fe5585p-10, -0x1.4ce199eaadbb7p-14,
                       0x1.0cfca86e65239p-18, -0x1.afdb76e09c32dp-23);
    const V t = 3.0 - p * 0.5 * r, c = (high - r) - low;
    const V e = (r * (z * ((p - t) / (6.0 - r * t)) - c) - c) - z;
    y = select(k < 20.0, 1.0 - power - (e - r), (r - (e + power)) + 1.0);
  }
  constexpr Number<V> flat = of_floats<V> ? Number<V>(-0x1.fe2804p3) : Number<V>(-0x1.205966f2b4f12p5);
  return select(x < flat, splat<V>(-1), times_power_of_two(y, shifted));
}
// 2⁻ᵏ of the largest k is no normal number, and does not count.
template <NumberOrVec V>
[[gnu::noinline]] V expm1_to_limit(V x) {
  const V shifted = shifted_integer(log2_e<V>, x);
  const V largest = splat<V>(integer_shift<V> + Number<V>(exponent_bias<V>));
  const V y = expm1_of(x, shifted, inverse_power_of_two(min(largest, shifted)));
  return select(x <= log_of_largest<V>, y, x + infinity<V>);
}
template <NumberOrVec V>
V expm1(V x) {
  if (!all_less(x, splat<V>(of_floats<V> ? 88 : 709))) [[unlikely]]
    return expm1_to_limit(x);
  const V shifted = shifted_integer(log2_e<V>, x);
  return expm1_of(x, shifted, inverse_power_of_two(shifted));
}

// --- log, log1p, pow

// u = 2ᵏ (1 + f) with √½ ≤ 1 + f < √2, for a normal number u: f, and k as a number.
template <class V>
inline constexpr Bits<Number<V>> root_half = of_floats<V> ? Bits<Number<V>>(0x3f3504f3)
                                                          : Bits<Number<V>>(0x3fe6a09e00000000);
template <NumberOrVec V>
Bits<V> split_bits(V u) {
  return bits_of(u) + (std::bit_cast<Bits<Number<V>>>(Number<V>(1)) - root_half<V>);
}
template <NumberOrVec V>
V fraction_of(V u) {
  constexpr Bits<Number<V>> fraction = (Bits<Number<V>>{1} << fraction_bits<V>)-1;
  return of_bits<V>((split_bits(u) & fraction) + root_half<V>) - Number<V>(1);
}
template <NumberOrVec V>
V exponent_of(V u) {
  return number_of(shifted_bits<V>((split_bits(u) >> fraction_bits<V>)-exponent_bias<V>));
}

// ln(2ᵏ (1 + f) + c) for a small c. With s = f / (2 + f), ln(1 + f) = f − f²/2 + s (f²/2 + R(s²)) (FreeBSD's
// e_log.c).
template <NumberOrVec V>
V log_of(V f, V k, V c) {
  const V s = f / (Number<V>(2) + f), z = s * s, w = z * z, half = Number<V>(0.5) * f * f;
  V odd, even;
  if constexpr (of_floats<V>) {
    odd = w * horner(w, 0x1.999c26p-2f, 0x1.f13c4cp-3f);
    even = z * horner(w, 0x1.555554p-1f, 0x1.23d3dcp-2f);
  } else {
    odd = w * horner(w, 0x1.999999997fa04p-2, 0x1.c71c51d8e78afp-3, 0x1.39a09d078c69fp-3);
    even =
        z * horner(w, 0x1.5555555555593p-1, 0x1.2492494229359p-2, 0x1.7466496cb03dep-3, 0x1.2f112df3e5244p-3);
  }
  const V rest = fma(s, half + (even + odd), k * ln2_low<V> + c) - half + f;
  return fma(k, splat<V>(ln2_high<V>), rest);
}
// Whether all lanes are positive normal numbers.
template <NumberOrVec V>
bool all_positive(V x) {
  constexpr auto smallest = std::bit_cast<Bits<Number<V>>>(std::numeric_limits<Number<V>>::min());
  constexpr auto beyond = std::bit_cast<Bits<Number<V>>>(infinity<V>);
  const auto positive = bits_of(x) - smallest < beyond - smallest;
  if constexpr (std::is_same_v<V, Number<V>>)
    return positive;
  else
    return lane_bits(positive) + 1 == uint64_t{1} << width<Number<V>>;
}
// y, which is the logarithm of a positive number x, or what the logarithm of another x is.
template <NumberOrVec V>
V log_or_limit(V x, V y) {
  constexpr Number<V> nan = std::numeric_limits<Number<V>>::quiet_NaN();
  y = select(x == infinity<V>, x, select(x == Number<V>(0), splat<V>(-infinity<V>), y));
  return select(x >= Number<V>(0), y, splat<V>(nan));
}

template <NumberOrVec V>
V log(V x) {
  if (all_positive(x)) [[likely]]
    return log_of(fraction_of(x), exponent_of(x), V{});
  // Makes numbers that are not normal larger by 2²³ or 2⁵⁴.
  const auto tiny = x < std::numeric_limits<Number<V>>::min();
  const V u = select(tiny, x * (of_floats<V> ? Number<V>(0x1p23) : Number<V>(0x1p54)), x);
  const V k = exponent_of(u) - select(tiny, splat<V>(of_floats<V> ? 23 : 54), V{});
  return log_or_limit(x, log_of(fraction_of(u), k, V{}));
}

// ln(1 + x): u = 1 + x, and c what u has lost of it.
template <NumberOrVec V>
V log1p(V x) {
  constexpr Number<V> one = 1;
  const V u = x + one, k = exponent_of(u);
  const V c = select(k >= Number<V>(2), one - (u - x), x - (u - one)) / u;
  const V y = log_of(fraction_of(u), k, c);
  return all_positive(u) ? y : log_or_limit(u, y);
}

// The sum of a and b, |a| ≥ |b|, as a number and what that has lost by rounding.
template <class V>
struct Sum {
  V high, low;
};
template <NumberOrVec V>
Sum<V> exact_sum(V a, V b) {
  const V sum = a + b;
  return {sum, b - (sum - a)};
}

// ln x to 2⁻⁶⁵ of itself, x > 0. With s = f / (2 + f), ln(1 + f) = 2s + ⅔s³ + s⁵ (2/5 + 2/7 s² + …); the
// first two terms are computed to twice the digits of a double.
template <NumberOrVec V>
Sum<V> precise_log(V x) {
  const auto tiny = x < std::numeric_limits<double>::min();
  const V u = select(tiny, x * 0x1p54, x), f = fraction_of(u),
          k = exponent_of(u) - select(tiny, splat<V>(54), V{});
  const V d = 2.0 + f, s = f / d, s_low = (fma(-s, d, f) - s * (f - (d - 2.0))) / d;
  const V z = s * s, z_low = fma(s, s, -z) + 2.0 * s * s_low;
  const V t = s * z, t_low = fma(s, z, -t) + (s * z_low + s_low * z);
  const V cube = 0x1.5555555555555p-1 * t;
  const V cube_low = fma(splat<V>(0x1.5555555555555p-1), t, -cube) +
                     (0x1.5555555555555p-1 * t_low + 0x1.5555555555555p-55 * t);
  const V rest = t * z *
                 horner(z, 2.0 / 5, 2.0 / 7, 2.0 / 9, 2.0 / 11, 2.0 / 13, 2.0 / 15, 2.0 / 17, 2.0 / 19,
                        2.0 / 21, 2.0 / 23, 2.0 / 25, 2.0 / 27);
  const Sum<V> first = exact_sum(k * ln2_high<V>, 2.0 * s), second = exact_sum(first.high, cube);
  const V low = first.low + second.low + (2.0 * s_low + cube_low + (rest + k * ln2_low<V>));
  return exact_sum(second.high, low);
}

// xʸ = e^(y ln x), with the sign of x where y is an odd integer, and NaN for x < 0 where y is no integer. For
// floats it is computed in double. 0, infinities and NaN give what the C library's pow gives.
template <NumberOrVec V>
V pow(V x, V y) {
  if constexpr (std::is_same_v<V, float>) {
    return static_cast<float>(pow(static_cast<double>(x), static_cast<double>(y)));
  } else if constexpr (of_floats<V>) {
    const std::array<Vec<double>, 2> a = widen(x), b = widen(y);
    return narrow(pow(a[0], b[0]), pow(a[1], b[1]));
  } else {
    const V size = abs(x);
    const Sum<V> log = precise_log(size);
    const V product = log.high * y, low = fma(log.high, y, -product) + log.low * y;
    // Beyond ±800 the result is 0 or ∞. 2ᵏ is two factors: results below 2⁻¹⁰²² keep their last digits.
    const V bounded = min(splat<V>(800.0), max(splat<V>(-800.0), product));
    const V shifted = shifted_integer(log2_e<V>, bounded), half = shifted_integer(0.5, number_of(shifted));
    const V other = shifted_integer(1, number_of(shifted) - number_of(half));
    V power = exp_of_rest(bounded, select(abs(product) < 800.0, low, V{}), shifted);
    power = power * power_of_two(half) * power_of_two(other);
    // Where x is negative y must be an integer: adding 2⁵² rounds |y| to one.
    const V exponent = abs(y), halved = exponent * 0.5;
    const auto whole = (exponent >= 0x1p52) | ((exponent + 0x1p52) - 0x1p52 == exponent);
    const auto even = (halved >= 0x1p52) | ((halved + 0x1p52) - 0x1p52 == halved);
    power = select(size == 1.0, splat<V>(1.0), power);
    power = select(whole, power, select(x < 0.0, splat<V>(std::numeric_limits<double>::quiet_NaN()), power));
    power = select((size == 0.0) | (size == infinity<V>),
                   select((size == 0.0) ^ (y < 0.0), V{}, splat<V>(infinity<V>)), power);
    power = select(even, power, select(whole, with_sign(power, sign_of(x)), power));
    power = select(x == x, select(y == y, power, y), x);
    return select((y == 0.0) | (x == 1.0), splat<V>(1.0), power);
  }
}

// --- sin, cos

// x = quarter · π/2 + rest for |x| that is at least 2¹⁶: of 2/π, 192 bits from those on whose product with x
// matters, times x (Payne & Hanek 1983).
struct Turn {
  double rest;
  uint64_t quarter;
};
inline Turn far_turn(double x) {
  // 2/π after 64 bits of zeros.
  static constexpr uint64_t two_over_pi[] = {0,
                                             0xa2f9836e4e441529,
                                             0xfc2757d1f534ddc0,
                                             0xdb6295993c439041,
                                             0xfe5163abdebbc561,
                                             0xb7246e3a424dd2e0,
                                             0x06492eea09d1921c,
                                             0xfe1deb1cb129a73e,
                                             0xe88235f52ebb4484,
                                             0xe99c7026b45f7e41,
                                             0x3991d639835339f4,
                                             0x9c845f8bbdf9283b,
                                             0x1ff897ffde05980f,
                                             0xef2f118b5a0a6d1f,
                                             0x6d367ecf27cb09b7,
                                             0x4f463f669e5fea2d,
                                             0x7527bac7ebe5f17b,
                                             0x3d0739f78a5292ea,
                                             0x6bfb5fb11f8d5d08,
                                             0x56033046fc7b6bab,
                                             0xf0cfbc209af4361d};
  __extension__ using Wide = unsigned __int128;
  if (!std::isfinite(x)) return {std::numeric_limits<double>::quiet_NaN(), 0};
  const uint64_t bits = std::bit_cast<uint64_t>(x);
  const uint64_t m = (bits & 0xfffffffffffff) | 0x10000000000000;  // |x| = m · 2ᵉ
  const int e = static_cast<int>(bits >> 52 & 0x7ff) - 1075, first = e + 62, shift = first % 64;
  uint64_t word[3];
  for (int i = 0; i < 3; ++i) {
    const uint64_t* at = two_over_pi + first / 64 + i;
    word[i] = shift == 0 ? at[0] : at[0] << shift | at[1] >> (64 - shift);
  }
  const Wide middle = Wide{m} * word[1] + (Wide{m} * word[2] >> 64);
  const uint64_t high = m * word[0] + static_cast<uint64_t>(middle >> 64),
                 low = static_cast<uint64_t>(middle);
  // Two bits are the quarter, the others a fraction of it, which is rounded to the nearest quarter.
  const uint64_t fraction = high << 2 | low >> 62, quarter = (high >> 62) + (fraction >> 63);
  const double rest = static_cast<double>(static_cast<int64_t>(fraction & ~uint64_t{0x7ff})) * 0x1p-64;
  const double rest_low =
      static_cast<double>(fraction & 0x7ff) * 0x1p-64 + static_cast<double>(low << 2) * 0x1p-128;
  const double angle =
      std::fma(rest, 0x1.921fb54442d18p0, rest * 0x1.1a62633145c07p-54 + rest_low * 0x1.921fb54442d18p0);
  return x < 0 ? Turn{-angle, -quarter} : Turn{angle, quarter};
}

// x is k quarters of a turn (k · π/2) and a rest of at most π/4. Of |x| up to far_angle the rest is computed with
// π/2 in three parts.
template <NumberOrVec V>
V shifted_quarters(V x) {
  return shifted_integer(Number<V>(0x1.45f306dc9c883p-1), x);
}
template <NumberOrVec V>
V near_rest(V x, V k) {
  if constexpr (of_floats<V>)
    return fma(k, splat<V>(0x1.ee59dap-50f),
               fma(k, splat<V>(0x1.777a5cp-25f), fma(k, splat<V>(-0x1.921fb6p0f), x)));
  else
    return fma(k, splat<V>(0x1.f1976b7ed8fbcp-110),
               fma(k, splat<V>(-0x1.1a62633145c07p-54), fma(k, splat<V>(-0x1.921fb54442d18p0), x)));
}
template <class V>
inline constexpr Number<V> far_angle = of_floats<V> ? Number<V>(0x1p16) : Number<V>(0x1p20);

// sin(rest + quarter · π/2), by polynomials (Cephes' in float, FreeBSD's degree in double).
template <NumberOrVec V>
[[gnu::always_inline]] inline V sin_of_rest(V rest, Bits<V> quarter) {
  const V z = rest * rest;
  V sine, cosine;
  if constexpr (of_floats<V>) {
    sine = fma(horner(z, -0x1.555544p-3f, 0x1.11073ap-7f, -0x1.9943f2p-13f) * z, rest, rest);
    cosine =
        fma(z, splat<V>(-0.5f), horner(z, 0x1.55554ap-5f, -0x1.6c0c32p-10f, 0x1.99eb9cp-16f) * z * z) + 1.0f;
  } else {
    sine = fma(horner(z, -0x1.5555555555548p-3, 0x1.111111110f7d0p-7, -0x1.a01a019bfdf03p-13,
                      0x1.71de3567d4896p-19, -0x1.ae5e5a9291691p-26, 0x1.5d8fd1fcf0ec1p-33) *
                   z,
               rest, rest);
    cosine = 1.0 - horner(z, 0x1.0000000000000p-1, -0x1.5555555555551p-5, 0x1.6c16c16c15d47p-10,
                          -0x1.a01a019ddbcd9p-16, 0x1.27e4f8e06d9a5p-22, -0x1.1eea7c1e514d4p-29,
                          0x1.8ff831ad9b219p-37) *
                       z;
  }
  const Bits<V> sign = (quarter >> 1) << (fraction_bits<V> == 23 ? 31 : 63);
  return with_sign(select((quarter & 1) == 0, sine, cosine), sign);
}

// sin(x + quarters · π/2) where an element is beyond far_angle.
template <NumberOrVec V>
[[gnu::noinline]] V far_sin_of_turned(V x, Bits<Number<V>> quarters) {
  using T = Number<V>;
  const V shifted = shifted_quarters(x);
  V rest = near_rest(x, number_of(shifted));
  Bits<V> quarter = bits_of(shifted);
  if constexpr (std::is_same_v<V, T>) {
    const Turn turned = far_turn(static_cast<double>(x));
    rest = static_cast<T>(turned.rest), quarter = static_cast<Bits<T>>(turned.quarter);
  } else {
    for (int64_t l = 0; l < width<T>; ++l) {
      if (!(std::abs(x[l]) > far_angle<V>)) continue;
      const Turn turned = far_turn(static_cast<double>(x[l]));
      rest[l] = static_cast<T>(turned.rest), quarter[l] = static_cast<Bits<T>>(turned.quarter);
    }
  }
  return sin_of_rest(rest, quarter + quarters);
}
template <NumberOrVec V>
V sin_of_turned(V x, Bits<Number<V>> quarters) {
  if (any_less(splat<V>(far_angle<V>), abs(x))) [[unlikely]]
    return far_sin_of_turned(x, quarters);
  const V shifted = shifted_quarters(x);
  return sin_of_rest(near_rest(x, number_of(shifted)), bits_of(shifted) + quarters);
}

template <NumberOrVec V>
V sin(V x) {
  return select(x == Number<V>(0), x, sin_of_turned(x, 0));  // −0 stays −0
}
template <NumberOrVec V>
V cos(V x) {
  return sin_of_turned(x, 1);
}

// --- tanh, erf

// An odd function of floats that tends to ±1: x P(x²) / Q(x²) up to |x| = `end`, where it rounds to ±1. All
// terms have one sign, so nothing cancels; NaN stays NaN.
template <int degree>
struct OddRational {
  float end;
  float p[degree + 1], q[degree + 1];  // rising powers of x²

  template <class V>
  V operator()(V x) const {
    const V z = x * x;
    V above = splat<V>(p[degree]), below = splat<V>(q[degree]);
    for (int i = degree - 1; i >= 0; --i) {
      above = fma(above, z, splat<V>(p[i]));
      below = fma(below, z, splat<V>(q[i]));
    }
    const V y = select(abs(x) < end, x * above / below, x);
    return min(splat<V>(1), max(splat<V>(-1), y));
  }
};

// The coefficients are the best in relative error (2.1e-8 and 2.5e-8 before rounding);
// tests/fixtures/odd_rational.py computes them.
inline constexpr OddRational<4> tanh_fit{
    .end = 9,
    .p = {0.9999999796f, 0.1338097142f, 0.003495522884f, 2.060799111e-5f, 1.335314337e-8f},
    .q = {1, 0.4671428708f, 0.02587673597f, 0.0003285527167f, 7.775936949e-7f}};
inline constexpr OddRational<5> erf_fit{
    .end = 4,
    .p = {1.12837914f, 0.193530952f, 0.05309951295f, 0.003882628223f, 0.0002845320983f, 1.986669161e-6f},
    .q = {1, 0.5048449013f, 0.1153438344f, 0.01520584387f, 0.001185363647f, 3.741720757e-5f}};

// Doubles: near 0 x + x³ P(x²) / Q(x²) (Cephes), else 1 − 2 / (1 + e²ˣ).
template <NumberOrVec V>
V tanh(V x) {
  if constexpr (of_floats<V>) {
    return tanh_fit(x);
  } else {
    const V size = abs(x), z = size * size;
    const auto near = size < 0.625;
    const V p = horner(z, -0x1.93ac030580563p10, -0x1.8d26a0e26682dp6, -0x1.edc5baafd6f4bp-1);
    const V q = horner(z, 0x1.2ec102442040cp12, 0x1.176fa0e5535fap11, 0x1.c33f28a581b86p6, 1.0);
    V y = fma(z * p / q, size, size);
    if (!all_less(size, splat<V>(0.625)))
      y = select(near, y, fma(1.0 / (1.0 + exp(size + size)), splat<V>(-2.0), splat<V>(1.0)));
    return with_sign(y, sign_of(x));
  }
}

// Doubles: near 0 x P(x²) / Q(x²), else 1 − e^(−x²) P(|x|) / Q(|x|), with one ratio up to 2.2 and another
// beyond.
template <NumberOrVec V>
V erf(V x) {
  if constexpr (of_floats<V>) {
    return erf_fit(x);
  } else {
    const V size = min(splat<V>(6.0), abs(x)), z = size * size;  // beyond 6 it rounds to 1
    const auto near = size < 0.65, middle = size < 2.2;
    V y = x * (horner(z, 0x1.20dd750429b61p0, 0x1.16500f106c0a5p-3, 0x1.4a59a4f02579cp-5,
                      0x1.3b7664358865ap-10, 0x1.10512d5b20332p-14) /
               horner(z, 1.0, 0x1.d0a84eb1ca867p-2, 0x1.64536ca92ea2fp-4, 0x1.166f75999dbd1p-7,
                      0x1.7ea4332348252p-12));
    if (all_less(size, splat<V>(0.65))) return y;
    V above = horner(size, 0x1.ffffffbbb552bp-1, 0x1.54dfe9b258a60p0, 0x1.c1986509e687bp-1,
                     0x1.53dd7a67c7e9fp-2, 0x1.2488a6b5cb5e5p-4, 0x1.cf4cfe0aacbb4p-8);
    V below = horner(size, 1.0, 0x1.3adeae79b9708p1, 0x1.53b1052dca8bdp1, 0x1.9e677c2777c3cp0,
                     0x1.307622fcff772p-1, 0x1.033c113a7deeep-3, 0x1.9a996639b0d00p-7);
    if (!all_less(size, splat<V>(2.2))) {
      above = select(middle, above,
                     horner(size, 0x1.fff5a9e697ae2p-1, 0x1.9fa202deb88e5p0, 0x1.44744306832aep0,
                            0x1.29be1cff90d94p-1, 0x1.42210f88b9d43p-3, 0x1.71d0907ea7a92p-6));
      below = select(middle, below,
                     horner(size, 1.0, 0x1.602f24bf3fdb6p1, 0x1.afd487397568fp1, 0x1.315ffdfd5ce91p1,
                            0x1.0cfd4cb6cde9fp0, 0x1.1d7ab774bb837p-2, 0x1.47bd61bbb3843p-5));
    }
    const V far = 1.0 - exp(-z) * (above / below);
    return select(near, y, select(x < 0.0, -far, far));
  }
}

}  // namespace isobar::kernels
