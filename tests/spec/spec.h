// The definition of what Isobar computes, in plain C++: scalar loops, no threads, the standard library alone.
// It is slow, and every op of the engine gives its bits (same_as_spec compares them). T is float or double.
// Compile with -std=c++20 -O2 -ffp-contract=off: a product and a sum round apart unless std::fma joins them.
//
// Sections: 1 sums, 2 functions, 3 arrays, 4 the tape, 5 arithmetic, 6 layout and sums, 7 products,
// 8 activations, 9 norms, 10 without a norm, 11 rows of logits, 12 attention, 13 random numbers, 14 training.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <map>
#include <memory>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

namespace spec {

using Int = std::int64_t;

// --- 1  sums ----------------------------------------------------------------------------------------------
// Numbers are added as doubles in sixteen lanes: number i goes to lane i mod 16. Then lane l and l + 8 are
// added, then l and l + 4, then (0 + 2) + (1 + 3).

struct Lanes {
  double lane[16] = {};

  void add(Int i, double number) { lane[i % 16] += number; }
  double total() const {
    double sum[8];
    for (int l = 0; l < 8; ++l) sum[l] = lane[l] + lane[l + 8];
    for (int l = 0; l < 4; ++l) sum[l] += sum[l + 4];
    return (sum[0] + sum[2]) + (sum[1] + sum[3]);
  }
};
// Σ term(i) over 0 ≤ i < n.
template <class Term> double lane_sum(Int n, const Term& term) {
  Lanes sum;
  for (Int i = 0; i < n; ++i) sum.add(i, static_cast<double>(term(i)));
  return sum.total();
}
inline double squared(double x) { return x * x; }
// Squares of doubles may leave their range: where a sum of them shows that, the numbers are multiplied by this
// power of two, and 1 where the largest of them is 0 or infinite.
inline bool squares_fit(double sum) { return !(sum < 0x1p-900 || sum > std::numeric_limits<double>::max()); }
inline double scale_for(double largest) {
  if (!(largest > 0 && largest <= std::numeric_limits<double>::max())) return 1;
  return std::ldexp(1.0, -std::clamp(std::ilogb(largest), -1022, 1022));
}

// A long sum is one of pieces of 2¹⁴ terms, whose sums are added in the same way.
constexpr Int piece = 1 << 14;
inline Int pieces_of(Int n, Int size) { return (n + size - 1) / size; }

template <class Term> double long_sum(Int n, const Term& term) {
  if (n <= piece) return lane_sum(n, term);
  return lane_sum(pieces_of(n, piece), [&](Int p) {
    return lane_sum(std::min(piece, n - p * piece), [&](Int i) { return term(p * piece + i); });
  });
}
// A sum over rows, a number for each column, is one of chunks of so many rows, from first to last.
inline Int rows_in_chunk(Int rows, Int columns) {
  return std::max({Int{16}, piece / std::max<Int>(columns, 1), pieces_of(rows, 64)});
}
// A chunk is added in Partial (double for sums, T for gradients of gains and biases), chunks in double.
template <class T, class Partial, class Term>
std::vector<T> sum_over_rows(Int rows, Int columns, const Term& term) {
  const Int chunk = rows_in_chunk(rows, columns);
  std::vector<double> total(columns, 0.0);
  for (Int begin = 0; begin < rows; begin += chunk)
    for (Int c = 0; c < columns; ++c) {
      Partial sum = 0;
      for (Int r = begin; r < std::min(begin + chunk, rows); ++r)
        sum += static_cast<Partial>(term(r * columns + c));
      total[c] += static_cast<double>(sum);
    }
  return {total.begin(), total.end()};
}

// --- 2  functions -----------------------------------------------------------------------------------------
// No function of a C library is called for elements: each is a polynomial that is written here. Coefficients
// are given as their bits, lowest power first; +, −, ·, /, √ and fma(a, b, c) = ab + c round once.
template <class T> using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
template <class T> T of_bits(Bits<T> bits) { return std::bit_cast<T>(bits); }

// c₀ + x (c₁ + x (c₂ + …)), one fma a step.
template <class T> T horner(T x, std::initializer_list<Bits<T>> c) {
  T y = of_bits<T>(c.end()[-1]);
  for (size_t i = c.size() - 1; i-- > 0;) y = std::fma(x, y, of_bits<T>(c.begin()[i]));
  return y;
}
// ln 2 in two parts, the first with zeros at its end, so that k · ln2_high is exact.
template <class T> constexpr T ln2_high = sizeof(T) == 4 ? T(0x1.63p-1) : T(0x1.62e42feep-1);
template <class T> constexpr T ln2_low = sizeof(T) == 4 ? T(-0x1.bd0106p-13) : T(0x1.a39ef35793c76p-33);

// The integer nearest to c x, which rounds once: 1.5 · 2²³ (in double 2⁵²) leaves no room for a fraction.
template <class T> T nearest(T c, T x) {
  constexpr T shift = sizeof(T) == 4 ? T(0x1.8p23) : T(0x1.8p52);
  return std::fma(c, x, shift) - shift;
}
// x · 2ᵏ for a normal result, in two steps: 2ᵏ itself may be too large for T.
template <class T> T times_power(T x, int k) {
  constexpr int bias = sizeof(T) == 4 ? 127 : 1023, digits = sizeof(T) == 4 ? 23 : 52;
  const auto power = [](int n) { return of_bits<T>(static_cast<Bits<T>>(n + bias) << digits); };
  return x * power(k / 2) * power(k - k / 2);
}
// eˣ = 2ᵏ eʳ, where r = x − k ln 2 is at most ln 2 / 2 from zero; 0 where eˣ is below the smallest normal number.
inline float exp(float x) {
  if (std::isnan(x)) return x;
  if (x < -0x1.5d589ep6f) return 0;
  if (x > 0x1.62e42ep6f) return std::numeric_limits<float>::infinity();
  const float k = nearest(1.44269504f, x);
  const float r = std::fma(-k, ln2_low<float>, std::fma(-k, ln2_high<float>, x));
  const float p = horner(r, {0x3f000000, 0x3e2aa9a5, 0x3d2aa957, 0x3c098d8b, 0x3ab778cf});
  return times_power(std::fma(p, r * r, r) + 1, static_cast<int>(k));
}
inline double exp(double x) {
  if (std::isnan(x)) return x;
  if (x < -708.3964185322641) return 0;
  if (x > 709.782712893384) return std::numeric_limits<double>::infinity();
  const double k = nearest(std::numbers::log2e, x);
  const double high = std::fma(-k, ln2_high<double>, x), low = k * ln2_low<double>, r = high - low, t = r * r;
  const double c = std::fma(-t,
                            horner(t, {0x3fc555555555553e, 0xbf66c16c16bebd93, 0x3f11566aaf25de2c,
                                       0xbebbbd41c5d26bf1, 0x3e66376972bea4d0}),
                            r);
  return times_power(1 - ((low - r * c / (2 - c)) - high), static_cast<int>(k));
}
// ln(u + c) for a small c: u = 2ᵏ (1 + f) with √½ ≤ 1 + f < √2, s = f / (2 + f).
inline float log_of(float u, float c, int k) {
  const auto bits = std::bit_cast<std::int32_t>(u) + (0x3f800000 - 0x3f3504f3);
  k += (bits >> 23) - 127;
  const float f = std::bit_cast<float>((bits & 0x007fffff) + 0x3f3504f3) - 1;
  const float s = f / (2 + f), z = s * s, w = z * z, half = 0.5f * f * f, power = static_cast<float>(k);
  const float odd = w * horner(w, {0x3eccce13, 0x3e789e26});
  const float even = z * horner(w, {0x3f2aaaaa, 0x3e91e9ee});
  const float rest = std::fma(s, half + (even + odd), power * ln2_low<float> + c) - half + f;
  return std::fma(power, ln2_high<float>, rest);
}
inline double log_of(double u, double c, int k) {
  const auto bits = std::bit_cast<std::int64_t>(u);
  const Int high = (bits >> 32) + (0x3ff00000 - 0x3fe6a09e);
  k += static_cast<int>(high >> 20) - 1023;
  const Int fraction = ((high & 0x000fffff) + 0x3fe6a09e) << 32 | (bits & 0xffffffff);
  const double f = std::bit_cast<double>(fraction) - 1;
  const double s = f / (2 + f), z = s * s, w = z * z, half = 0.5 * f * f, power = k;
  const double odd = w * horner(w, {0x3fd999999997fa04, 0x3fcc71c51d8e78af, 0x3fc39a09d078c69f});
  const double even =
      z * horner(w, {0x3fe5555555555593, 0x3fd2492494229359, 0x3fc7466496cb03de, 0x3fc2f112df3e5244});
  const double rest = std::fma(s, half + (even + odd), power * ln2_low<double> + c) - half + f;
  return std::fma(power, ln2_high<double>, rest);
}
template <class T> T log(T x) {
  if (!(x >= 0)) return std::numeric_limits<T>::quiet_NaN();
  if (x == 0) return -std::numeric_limits<T>::infinity();
  if (std::isinf(x)) return x;
  if (x >= std::numeric_limits<T>::min()) return log_of(x, T(0), 0);
  return sizeof(T) == 4 ? log_of(x * T(0x1p23), T(0), -23) : log_of(x * T(0x1p54), T(0), -54);
}
// An odd function of floats that tends to ±1, as x P(x²) / Q(x²) up to |x| = end.
template <size_t n> float odd_rational(float x, float end, const float (&p)[n], const float (&q)[n]) {
  if (std::isnan(x)) return x;
  const float z = x * x;
  float above = p[n - 1], below = q[n - 1];
  for (size_t i = n - 1; i-- > 0;) above = std::fma(above, z, p[i]), below = std::fma(below, z, q[i]);
  return std::clamp(std::abs(x) < end ? x * above / below : x, -1.0f, 1.0f);
}

inline float tanh(float x) {
  return odd_rational(x, 9, {0.9999999796f, 0.1338097142f, 0.003495522884f, 2.060799111e-5f, 1.335314337e-8f},
                      {1, 0.4671428708f, 0.02587673597f, 0.0003285527167f, 7.775936949e-7f});
}
// Near 0 x + x³ P(x²) / Q(x²), else 1 − 2 / (1 + e²ˣ).
inline double tanh(double x) {
  const double size = std::abs(x), z = x * x;
  const double p = horner(z, {0xc0993ac030580563, 0xc058d26a0e26682d, 0xbfeedc5baafd6f4b});
  const double q =
      horner(z, {0x40b2ec102442040c, 0x40a176fa0e5535fa, 0x405c33f28a581b86, 0x3ff0000000000000});
  const double y =
      size < 0.625 ? std::fma(z * p / q, size, size) : std::fma(-2.0, 1 / (1 + exp(size + size)), 1.0);
  return std::signbit(x) ? -y : y;
}

inline float erf(float x) {
  return odd_rational(
      x, 4, {1.12837914f, 0.193530952f, 0.05309951295f, 0.003882628223f, 0.0002845320983f, 1.986669161e-6f},
      {1, 0.5048449013f, 0.1153438344f, 0.01520584387f, 0.001185363647f, 3.741720757e-5f});
}
// Near 0 x P(x²) / Q(x²), else 1 − e^(−x²) P(|x|) / Q(|x|), with one ratio up to 2.2 and another up to 6.
inline double erf(double x) {
  if (std::isnan(x)) return x;
  const double size = std::min(std::abs(x), 6.0), z = size * size;
  if (size < 0.65)
    return x * (horner(z, {0x3ff20dd750429b61, 0x3fc16500f106c0a5, 0x3fa4a59a4f02579c, 0x3f53b7664358865a,
                           0x3f110512d5b20332}) /
                horner(z, {0x3ff0000000000000, 0x3fdd0a84eb1ca867, 0x3fb64536ca92ea2f, 0x3f8166f75999dbd1,
                           0x3f37ea4332348252}));
  const double share =
      size < 2.2
          ? horner(size, {0x3feffffffbbb552b, 0x3ff54dfe9b258a60, 0x3fec1986509e687b, 0x3fd53dd7a67c7e9f,
                          0x3fb2488a6b5cb5e5, 0x3f7cf4cfe0aacbb4, 0}) /
                horner(size, {0x3ff0000000000000, 0x4003adeae79b9708, 0x40053b1052dca8bd, 0x3ff9e677c2777c3c,
                              0x3fe307622fcff772, 0x3fc033c113a7deee, 0x3f89a996639b0d00})
          : horner(size, {0x3fefff5a9e697ae2, 0x3ff9fa202deb88e5, 0x3ff44744306832ae, 0x3fe29be1cff90d94,
                          0x3fc42210f88b9d43, 0x3f971d0907ea7a92, 0}) /
                horner(size, {0x3ff0000000000000, 0x400602f24bf3fdb6, 0x400afd487397568f, 0x400315ffdfd5ce91,
                              0x3ff0cfd4cb6cde9f, 0x3fd1d7ab774bb837, 0x3fa47bd61bbb3843});
  const double y = 1 - exp(-z) * share;
  return x < 0 ? -y : y;
}

template <class T> T sigmoid(T x) { return 1 / (1 + exp(-x)); }

// sin(x + quarters · π/2) for |x| ≤ 2²⁰: x is k quarters and a rest, from which π/2 is taken in three parts.
inline double sin_of_turned(double x, int quarters) {
  const double k = nearest(0x1.45f306dc9c883p-1, x);
  const double near = std::fma(k, -0x1.1a62633145c07p-54, std::fma(k, -0x1.921fb54442d18p0, x));
  const double r = std::fma(k, 0x1.f1976b7ed8fbcp-110, near), z = r * r;
  const double p = horner(z, {0xbfc5555555555548, 0x3f8111111110f7d0, 0xbf2a01a019bfdf03, 0x3ec71de3567d4896,
                              0xbe5ae5e5a9291691, 0x3de5d8fd1fcf0ec1});
  const double q = horner(z, {0x3fe0000000000000, 0xbfa5555555555551, 0x3f56c16c16c15d47, 0xbefa01a019ddbcd9,
                              0x3e927e4f8e06d9a5, 0xbe21eea7c1e514d4, 0x3da8ff831ad9b219});
  const Int quarter = static_cast<Int>(k) + quarters;
  const double y = quarter % 2 == 0 ? std::fma(p * z, r, r) : 1 - q * z;
  return (quarter & 2) == 0 ? y : -y;
}
inline double sin(double x) { return x == 0 ? x : sin_of_turned(x, 0); }
inline double cos(double x) { return sin_of_turned(x, 1); }

// a + b, |a| ≥ |b|, as a number and what that has lost.
struct Sum {
  double high, low;
};
inline Sum exact_sum(double a, double b) { return {a + b, b - (a + b - a)}; }
// ln x for a normal x > 0, to 2⁻⁶⁵ of itself: ln(1 + f) = 2s + ⅔s³ + s⁵ (2/5 + 2/7 s² + …), s = f / (2 + f),
// the first two terms with twice the digits.
inline Sum precise_log(double x) {
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(x) + 0x00095f6200000000;
  const double k = static_cast<double>(bits >> 52) - 1023;
  const double f = of_bits<double>((bits & 0x000fffffffffffff) + 0x3fe6a09e00000000) - 1;
  const double d = 2 + f, s = f / d, s_low = (std::fma(-s, d, f) - s * (f - (d - 2))) / d;
  const double z = s * s, z_low = std::fma(s, s, -z) + 2 * s * s_low;
  const double t = s * z, t_low = std::fma(s, z, -t) + (s * z_low + s_low * z);
  const double third = 0x1.5555555555555p-1, cube = third * t;
  const double cube_low = std::fma(third, t, -cube) + (third * t_low + 0x1.5555555555555p-55 * t);
  double series = 2.0 / 27;
  for (int i = 25; i >= 5; i -= 2) series = std::fma(z, series, 2.0 / i);
  const Sum first = exact_sum(k * ln2_high<double>, 2 * s), second = exact_sum(first.high, cube);
  const double low = first.low + second.low + (2 * s_low + cube_low + (t * z * series + k * ln2_low<double>));
  return exact_sum(second.high, low);
}
// xʸ = e^(y ln x) for a normal x > 0; y ln x between −708 and 709. As in exp, with what y ln x has lost.
inline double pow(double x, double y) {
  const Sum log = precise_log(x);
  const double product = log.high * y, lost = std::fma(log.high, y, -product) + log.low * y;
  const double k = nearest(std::numbers::log2e, product);
  const double high = std::fma(-k, ln2_high<double>, product), low = k * ln2_low<double> - lost;
  const double r = high - low, t = r * r;
  const double c = std::fma(-t,
                            horner(t, {0x3fc555555555553e, 0xbf66c16c16bebd93, 0x3f11566aaf25de2c,
                                       0xbebbbd41c5d26bf1, 0x3e66376972bea4d0}),
                            r);
  return times_power(1 - ((low - r * c / (2 - c)) - high), static_cast<int>(k));
}

// --- 3  arrays --------------------------------------------------------------------------------------------
// An array is its extents and its numbers, row by row: the last index runs fastest.
using Shape = std::vector<Int>;
inline Int size_of(const Shape& shape) {
  Int n = 1;
  for (Int extent : shape) n *= extent;
  return n;
}

template <class T> struct Array {
  Shape shape;
  std::vector<T> x;

  Int size() const { return static_cast<Int>(x.size()); }
  Int extent(int d) const { return shape[d < 0 ? d + shape.size() : d]; }
};
template <class T> Array<T> filled(const Shape& shape, T number) {
  return {shape, std::vector<T>(size_of(shape), number)};
}
// The array of f(i).
template <class T, class F> Array<T> made(const Shape& shape, const F& f) {
  Array<T> y = filled(shape, T(0));
  for (Int i = 0; i < y.size(); ++i) y.x[i] = f(i);
  return y;
}
// How far it is from one index to the next, in each dimension.
inline Shape steps_of(const Shape& shape) {
  Shape steps(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 1;) steps[d - 1] = steps[d] * shape[d];
  return steps;
}
// The place of element i of a shape when these steps lead through the numbers.
inline Int place(Int i, const Shape& shape, const Shape& steps) {
  Int at = 0;
  for (size_t d = shape.size(); d-- > 0; i /= shape[d]) at += i % shape[d] * steps[d];
  return at;
}
template <class T> Array<T> walked(const Array<T>& a, const Shape& shape, const Shape& steps, Int start = 0) {
  return made<T>(shape, [&](Int i) { return a.x[start + place(i, shape, steps)]; });
}
// Two shapes broadcast: aligned at their ends, an extent of one is repeated. Repeating is a step of zero.
inline Shape broadcast(const Shape& a, const Shape& b) {
  Shape shape = a.size() < b.size() ? b : a;
  const Shape& other = a.size() < b.size() ? a : b;
  for (size_t d = 1; d <= other.size(); ++d)
    if (shape.end()[-d] == 1) shape.end()[-d] = other.end()[-d];
  return shape;
}
inline Shape broadcast_steps(const Shape& from, const Shape& to) {
  Shape steps(to.size(), 0), own = steps_of(from);
  for (size_t d = 1; d <= from.size(); ++d)
    if (from.end()[-d] != 1) steps.end()[-d] = own.end()[-d];
  return steps;
}
template <class T> Array<T> repeated(const Array<T>& a, const Shape& shape) {
  return walked(a, shape, broadcast_steps(a.shape, shape));
}
template <class T, class F> Array<T> combined(const Array<T>& a, const Array<T>& b, const F& f) {
  const Shape shape = broadcast(a.shape, b.shape);
  const Shape to_a = broadcast_steps(a.shape, shape), to_b = broadcast_steps(b.shape, shape);
  return made<T>(shape, [&](Int i) { return f(a.x[place(i, shape, to_a)], b.x[place(i, shape, to_b)]); });
}
template <class T, class F> Array<T> mapped(const Array<T>& a, const F& f) {
  return made<T>(a.shape, [&](Int i) { return f(a.x[i]); });
}
// Dimension d of the result is dimension order[d] of a.
template <class T> Array<T> permuted(const Array<T>& a, const std::vector<int>& order) {
  const Shape steps = steps_of(a.shape);
  Shape shape, walk;
  for (int d : order) shape.push_back(a.shape[d]), walk.push_back(steps[d]);
  return walked(a, shape, walk);
}
// The last two dimensions swapped.
template <class T> Array<T> transposed(const Array<T>& a) {
  Shape shape = a.shape, steps = steps_of(a.shape);
  std::swap(shape.end()[-1], shape.end()[-2]), std::swap(steps.end()[-1], steps.end()[-2]);
  return walked(a, shape, steps);
}
// The sum over some dimensions, which stay as extents of one. Over the first dimensions alone it is a sum
// over rows; else each result is one long sum over the elements in their order.
template <class T> Array<T> summed(const Array<T>& a, const std::vector<bool>& over) {
  Shape kept;
  std::vector<int> order;
  Int rows = 1, count = 1;
  bool some_kept = false, first_only = true;
  for (size_t d = 0; d < over.size(); ++d) {
    kept.push_back(over[d] ? 1 : a.shape[d]);
    (over[d] ? count : rows) *= a.shape[d];
    first_only = first_only && !(over[d] && some_kept);
    some_kept = some_kept || !over[d];
  }
  if (some_kept && first_only)
    return {kept, sum_over_rows<T, double>(count, rows, [&](Int i) { return a.x[i]; })};
  for (bool reduced : {false, true})
    for (size_t d = 0; d < over.size(); ++d)
      if (over[d] == reduced) order.push_back(static_cast<int>(d));
  const Array<T> b = permuted(a, order);
  return made<T>(kept, [&](Int r) {
    return static_cast<T>(long_sum(count, [&](Int i) { return b.x[r * count + i]; }));
  });
}
// The inverse of broadcasting, for gradients.
template <class T> Array<T> summed_to(const Array<T>& a, const Shape& shape) {
  if (a.shape == shape) return a;
  std::vector<bool> over(a.shape.size());
  const size_t more = a.shape.size() - shape.size();
  bool any = false;
  for (size_t d = 0; d < over.size(); ++d) {
    over[d] = d < more || (shape[d - more] == 1 && a.shape[d] != 1);
    any = any || over[d];
  }
  return {shape, any ? summed(a, over).x : a.x};
}

// --- 4  the tape ------------------------------------------------------------------------------------------
// A tensor is a number on the tape: its array, how its gradient goes back to what it was computed from, and
// the sum of the gradients that came back to it. Copies of a tensor are the same tensor.
template <class T> struct Node {
  Array<T> value;
  std::function<void(const Array<T>& dy)> backward;  // calls give() for each input, from first to last
  Int number = 0;                                    // nodes are numbered as they are made
  bool trainable = false;
  Array<T> adjoint, grad;  // while gradients flow; and afterwards, of a trainable tensor
};

template <class T> struct Tensor {
  std::shared_ptr<Node<T>> node;

  Tensor() = default;
  Tensor(Array<T> value) : node(std::make_shared<Node<T>>()) {
    static Int made = 0;
    node->value = std::move(value);
    node->number = ++made;
  }
  bool defined() const { return node != nullptr; }
  Array<T>& value() const { return node->value; }
  const Shape& shape() const { return value().shape; }
  Int size(int d) const { return value().extent(d); }
  Int numel() const { return value().size(); }
  Array<T>& grad() const { return node->grad; }
};

template <class T> Tensor<T> trainable(Array<T> value) {
  Tensor<T> x(std::move(value));
  x.node->trainable = true;
  return x;
}
template <class T, class Backward> Tensor<T> recorded(Array<T> value, Backward backward) {
  Tensor<T> y(std::move(value));
  y.node->backward = std::move(backward);
  return y;
}
// Tensors that have a gradient and have not passed it on yet.
template <class T> inline std::map<Int, Tensor<T>> waiting;

// Adds dx to the gradient of x: the sum so far + dx. Where x was repeated, dx is summed first.
template <class T> void give(const Tensor<T>& x, const Array<T>& dx) {
  if (!x.defined() || !(x.node->backward || x.node->trainable)) return;
  Array<T>& sum = x.node->adjoint;
  const bool first = waiting<T>.emplace(x.node->number, x).second;
  const Array<T> own = summed_to(dx, x.shape());
  sum = first ? own : combined(sum, own, [](T a, T b) { return a + b; });
}
// The gradients of y, given dy: nodes pass theirs on from the last that was made to the first, so each knows
// its whole gradient. Those of trainable tensors are added to the ones that they have.
template <class T> void backward(const Tensor<T>& y, const Array<T>& dy) {
  give(y, dy);
  while (!waiting<T>.empty()) {
    const Tensor<T> x = std::prev(waiting<T>.end())->second;
    waiting<T>.erase(x.node->number);
    const Array<T> dx = std::exchange(x.node->adjoint, {});
    if (x.node->backward) x.node->backward(dx);
    if (x.node->trainable)
      x.grad() = x.grad().x.empty() ? dx : combined(x.grad(), dx, [](T a, T b) { return a + b; });
  }
}
template <class T> void backward(const Tensor<T>& loss) { backward(loss, filled(loss.shape(), T(1))); }

// --- 5  arithmetic ----------------------------------------------------------------------------------------
// Two tensors broadcast. A double beside a tensor is rounded to T first.
template <class T> Tensor<T> operator+(const Tensor<T>& a, const Tensor<T>& b) {
  return recorded(combined(a.value(), b.value(), [](T p, T q) { return p + q; }),
                  [=](const Array<T>& dy) { give(a, dy), give(b, dy); });
}
template <class T> Array<T> times(const Array<T>& a, const Array<T>& b) {
  return combined(a, b, [](T p, T q) { return p * q; });
}
template <class T> Array<T> times(const Array<T>& a, double s) {
  return mapped(a, [=](T v) { return static_cast<T>(s) * v; });
}
template <class T> Tensor<T> operator*(const Tensor<T>& a, const Tensor<T>& b) {
  return recorded(times(a.value(), b.value()),
                  [=](const Array<T>& dy) { give(a, times(dy, b.value())), give(b, times(dy, a.value())); });
}
template <class T> Tensor<T> operator-(const Tensor<T>& a, const Tensor<T>& b) {
  return recorded(combined(a.value(), b.value(), [](T p, T q) { return p - q; }),
                  [=](const Array<T>& dy) { give(a, dy), give(b, times(dy, -1)); });
}
// da = dy / b,  db = −(da · y)
template <class T> Tensor<T> operator/(const Tensor<T>& a, const Tensor<T>& b) {
  const Array<T> y = combined(a.value(), b.value(), [](T p, T q) { return p / q; });
  return recorded(y, [=](const Array<T>& dy) {
    const Array<T> da = combined(dy, b.value(), [](T p, T q) { return p / q; });
    give(a, da), give(b, times(times(da, y), -1));
  });
}
// y and dx of an element, from x and dy.
template <class T> struct Both { T y, dx; };
template <class T, class F> Tensor<T> each(const Tensor<T>& x, const F& f) {
  return recorded(mapped(x.value(), [=](T v) { return f(v, T(0)).y; }), [=](const Array<T>& dy) {
    give(x, made<T>(dy.shape, [&](Int i) { return f(x.value().x[i], dy.x[i]).dx; }));
  });
}
// scale · x + shift
template <class T> Tensor<T> affine(const Tensor<T>& x, double scale, double shift) {
  return each(x, [=](T v, T dy) { return Both<T>{T(scale) * v + T(shift), T(scale) * dy}; });
}
template <class T> Tensor<T> operator+(const Tensor<T>& x, double s) { return affine(x, 1, s); }
template <class T> Tensor<T> operator*(const Tensor<T>& x, double s) {
  return each(x, [=](T v, T dy) { return Both<T>{T(s) * v, T(s) * dy}; });
}
template <class T> Tensor<T> operator/(const Tensor<T>& x, double s) {
  return each(x, [=](T v, T dy) { return Both<T>{v / T(s), dy / T(s)}; });
}
template <class T> Tensor<T> exp(const Tensor<T>& x) {
  return each(x, [](T v, T dy) { return Both<T>{exp(v), dy * exp(v)}; });
}
template <class T> Tensor<T> log(const Tensor<T>& x) {
  return each(x, [](T v, T dy) { return Both<T>{log(v), dy / v}; });
}
template <class T> Tensor<T> tanh(const Tensor<T>& x) {
  return each(x, [](T v, T dy) { return Both<T>{tanh(v), dy * (1 - tanh(v) * tanh(v))}; });
}
template <class T> Tensor<T> sigmoid(const Tensor<T>& x) {
  return each(x, [](T v, T dy) { return Both<T>{sigmoid(v), dy * sigmoid(v) * (1 - sigmoid(v))}; });
}
template <class T> constexpr T erf_slope = T(2 * std::numbers::inv_sqrtpi);  // at 0
template <class T> Tensor<T> erf(const Tensor<T>& x) {
  return each(x, [](T v, T dy) { return Both<T>{erf(v), dy * exp(-(v * v)) * erf_slope<T>}; });
}
template <class T> Tensor<T> square(const Tensor<T>& x) {
  return each(x, [](T v, T dy) { return Both<T>{v * v, dy * v * 2}; });
}
template <class T> Tensor<T> sqrt(const Tensor<T>& x) {
  return each(x, [](T v, T dy) { return Both<T>{std::sqrt(v), dy / (std::sqrt(v) * 2)}; });
}

// --- 6  layout and sums -----------------------------------------------------------------------------------
template <class T> Tensor<T> reshape(const Tensor<T>& x, const Shape& shape) {
  return recorded(Array<T>{shape, x.value().x}, [=](const Array<T>& dy) {
    give(x, Array<T>{x.shape(), dy.x});
  });
}
template <class T> Tensor<T> permute(const Tensor<T>& x, const std::vector<int>& order) {
  std::vector<int> back(order.size());
  for (size_t d = 0; d < order.size(); ++d) back[order[d]] = static_cast<int>(d);
  return recorded(permuted(x.value(), order), [=](const Array<T>& dy) { give(x, permuted(dy, back)); });
}
template <class T> Tensor<T> transpose(const Tensor<T>& x) {
  return recorded(transposed(x.value()), [=](const Array<T>& dy) { give(x, transposed(dy)); });
}
// The order of addition is that of summed(): over the first dimensions by rows, else in lanes.
template <class T>
Tensor<T> sum(const Tensor<T>& x, const std::vector<int>& axes = {}, bool keepdim = false) {
  std::vector<bool> over(x.shape().size(), axes.empty());
  for (int axis : axes) over[axis < 0 ? axis + over.size() : axis] = true;
  const Array<T> y = summed(x.value(), over);
  Shape shape;
  for (size_t d = 0; d < over.size(); ++d)
    if (keepdim || !over[d]) shape.push_back(y.shape[d]);
  return recorded(Array<T>{shape, y.x}, [=, kept = y.shape](const Array<T>& dy) {
    give(x, repeated(Array<T>{kept, dy.x}, x.shape()));
  });
}
template <class T>
Tensor<T> mean(const Tensor<T>& x, const std::vector<int>& axes = {}, bool keepdim = false) {
  const Tensor<T> y = sum(x, axes, keepdim);
  return y / static_cast<double>(x.numel() / std::max<Int>(y.numel(), 1));
}

// --- 7  products ------------------------------------------------------------------------------------------
// Every element of a product is one chain of fused multiply-adds, in the order of the index that is summed.
// It starts at the bias, or at 0.

// The product of each pair of matrices, (M, K) and (K, N), of two batches, which broadcast.
template <class T> Array<T> product(const Array<T>& a, const Array<T>& b, const T* bias = nullptr) {
  const Int m = a.extent(-2), k = a.extent(-1), n = b.extent(-1);
  const Shape of_a(a.shape.begin(), a.shape.end() - 2), of_b(b.shape.begin(), b.shape.end() - 2);
  const Shape batch = broadcast(of_a, of_b);
  const Shape to_a = broadcast_steps(of_a, batch), to_b = broadcast_steps(of_b, batch);
  Shape shape = batch;
  shape.push_back(m), shape.push_back(n);
  return made<T>(shape, [&](Int i) {
    const Int row = place(i / n / m, batch, to_a) * m + i / n % m,
              from = place(i / n / m, batch, to_b) * k * n;
    T sum = bias != nullptr ? bias[i % n] : T(0);
    for (Int l = 0; l < k; ++l) sum = std::fma(a.x[row * k + l], b.x[from + l * n + i % n], sum);
    return sum;
  });
}
// da = dy bᵀ,  db = aᵀ dy
template <class T> Tensor<T> matmul(const Tensor<T>& a, const Tensor<T>& b) {
  return recorded(product(a.value(), b.value()), [=](const Array<T>& dy) {
    give(a, product(dy, transposed(b.value()))), give(b, product(transposed(a.value()), dy));
  });
}
// y = x Wᵀ + bias, x (…, K) as N rows, W (M, K):  dx = dy W,  dW = dyᵀ x,  dbias = Σ dy over rows.
template <class T> Tensor<T> linear(const Tensor<T>& x, const Tensor<T>& weight, const Tensor<T>& bias) {
  const Int m = weight.size(0), k = weight.size(1), n = x.numel() / std::max<Int>(k, 1);
  const Array<T> rows{{n, k}, x.value().x}, w = weight.value();
  Shape shape = x.shape();
  shape.back() = m;
  const T* start = bias.defined() ? bias.value().x.data() : nullptr;
  return recorded(Array<T>{shape, product(rows, transposed(w), start).x}, [=](const Array<T>& dy) {
    const Array<T> d{{n, m}, dy.x};
    give(x, {x.shape(), product(d, w).x}), give(weight, product(transposed(d), rows));
    if (bias.defined()) give(bias, summed_to(d, bias.shape()));
  });
}

// --- 8  activations ---------------------------------------------------------------------------------------

// NaN stays NaN in both directions.
template <class T> Tensor<T> relu(const Tensor<T>& x) {
  return each(x, [](T v, T dy) { return Both<T>{v <= 0 ? T(0) : v, v <= 0 ? T(0) : dy}; });
}
template <class T> Tensor<T> leaky_relu(const Tensor<T>& x, double negative_slope) {
  return each(x, [s = T(negative_slope)](T v, T dy) {
    return Both<T>{v <= 0 ? s * v : v, v <= 0 ? dy * s : dy};
  });
}
// The nearest integer, of two the even one; its slope is 0.
template <class T> Tensor<T> round(const Tensor<T>& x) {
  return each(x, [](T v, T) { return Both<T>{std::nearbyint(v), T(0)}; });
}
// x Φ(x) = x (1 + erf(x / √2)) / 2
template <class T> Tensor<T> gelu(const Tensor<T>& x) {
  return each(x, [k = T(1 / std::numbers::sqrt2)](T v, T dy) {
    const T u = k * v, twice = 1 + erf(u), slope = exp(-(u * u)) * erf_slope<T> * k;
    return Both<T>{v * twice * T(0.5), dy * (T(0.5) * (twice + v * slope))};
  });
}
// x (1 + tanh(u)) / 2 with u = x (a + b x²), a = √(2/π), b = 0.044715 a
template <class T> Tensor<T> gelu_tanh(const Tensor<T>& x) {
  constexpr double root = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
  return each(x, [a = T(root), b = T(0.044715 * root)](T v, T dy) {
    const T u = v > T(1e6) ? T(1e6) : v < T(-1e6) ? T(-1e6) : v;  // beyond, tanh is ±1 and its slope 0
    const T within = a + b * (u * u), t = tanh(u * within),
            slope = (1 - t * t) * (within + u * (b * (u * 2)));
    return Both<T>{v * (1 + t) * T(0.5), dy * (T(0.5) * ((1 + t) + v * slope))};
  });
}
template <class T> Tensor<T> silu(const Tensor<T>& x) {
  return each(x, [](T v, T dy) {
    const T s = sigmoid(v);
    return Both<T>{v * s, dy * (s + v * (s * (1 - s)))};
  });
}
// silu(gate) · up
template <class T> Tensor<T> swiglu(const Tensor<T>& gate, const Tensor<T>& up) {
  const auto of = [](T g, T u) { return g * sigmoid(g) * u; };
  return recorded(combined(gate.value(), up.value(), of), [=](const Array<T>& dy) {
    const Array<T> slope = combined(gate.value(), up.value(), [](T g, T u) {
      const T s = sigmoid(g);
      return u * (s + g * s * (1 - s));
    });
    give(gate, times(dy, slope)),
        give(up, times(dy, mapped(gate.value(), [](T g) { return g * sigmoid(g); })));
  });
}
// cap · tanh(x / cap)
template <class T> Tensor<T> softcap(const Tensor<T>& x, double cap) {
  return each(x, [c = T(cap)](T v, T dy) {
    const T t = tanh(v / c);
    return Both<T>{c * t, dy * (c * ((1 - t * t) * (1 / c)))};
  });
}

// --- 9  norms ---------------------------------------------------------------------------------------------
// x is seen as rows of C numbers, h = (x − mean) r, y = h · weight + bias. Statistics are doubles; r is
// 1/√(variance + eps). The variance is summed around m, the mean as it rounds to T, and corrected for that
// rounding; so is h, which is (x − m) r − (mean − m) r, added in one fma. Without the mean, and with the
// squares of the first `counted` columns only, it is RMSNorm.
//
//   u = dy · weight,  dx = r (u − mean(u) − h mean(u h)),  dweight = Σ dy h,  dbias = Σ dy  over rows
template <class T> Tensor<T> normalize(const Tensor<T>& x, Int columns, const Tensor<T>& weight,
                                       const Tensor<T>& bias, double eps, bool centred, Int counted) {
  const Int rows = columns > 0 ? x.numel() / columns : 0;
  const Array<T>& v = x.value();
  std::vector<T> mean(rows), r(rows), shift(rows);
  for (Int n = 0; n < rows; ++n) {
    const T* row = v.x.data() + n * columns;
    double centre = 0;
    if (centred) centre = lane_sum(columns, [&](Int c) { return row[c]; }) / static_cast<double>(columns);
    mean[n] = static_cast<T>(centre);
    const double rounding = centre - static_cast<double>(mean[n]);
    const double squares = lane_sum(counted, [&](Int c) { return squared(row[c] - mean[n]); });
    const double spread = squares / static_cast<double>(counted) - rounding * rounding + eps;
    double scale = 1 / std::sqrt(spread);
    if (sizeof(T) == 8 && !squares_fit(spread)) {
      double largest = std::sqrt(eps);
      for (Int c = 0; c < counted; ++c) largest = std::max<double>(largest, std::abs(row[c] - mean[n]));
      const double s = scale_for(largest);
      const double scaled = lane_sum(counted, [&](Int c) { return squared((row[c] - mean[n]) * s); });
      scale = s / std::sqrt(scaled / static_cast<double>(counted) + eps * s * s);
    }
    r[n] = static_cast<T>(scale), shift[n] = static_cast<T>(-(rounding * scale));
  }
  const auto h = [=](Int i) {
    return std::fma(x.value().x[i] - mean[i / columns], r[i / columns], shift[i / columns]);
  };
  const auto value = [=](Int i) {
    const T scaled = weight.defined() ? h(i) * weight.value().x[i % columns] : h(i);
    return bias.defined() ? scaled + bias.value().x[i % columns] : scaled;
  };
  return recorded(made<T>(v.shape, value), [=](const Array<T>& dy) {
    const auto at = [=](Int n, Int c) { return n * columns + c; };
    const auto u = [&](Int i) {
      return weight.defined() ? dy.x[i] * weight.value().x[i % columns] : dy.x[i];
    };
    Array<T> dx = dy;
    for (Int n = 0; n < rows; ++n) {
      const double sum = centred ? lane_sum(columns, [&](Int c) { return u(at(n, c)); }) : 0;
      const double with_h = lane_sum(columns, [&](Int c) { return u(at(n, c)) * h(at(n, c)); });
      const T mean_u = static_cast<T>(sum / static_cast<double>(columns));
      const T mean_uh = static_cast<T>(with_h / static_cast<double>(counted));
      for (Int i = at(n, 0); i < at(n + 1, 0); ++i)
        dx.x[i] = r[n] * (i % columns < counted ? u(i) - mean_u - h(i) * mean_uh : u(i) - mean_u);
    }
    give(x, dx);
    if (weight.defined())
      give(weight,
           {weight.shape(), sum_over_rows<T, T>(rows, columns, [&](Int i) { return dy.x[i] * h(i); })});
    if (bias.defined())
      give(bias, {bias.shape(), sum_over_rows<T, T>(rows, columns, [&](Int i) { return dy.x[i]; })});
  });
}
template <class T> Tensor<T> layer_norm(const Tensor<T>& x, const Shape& last, const Tensor<T>& weight,
                                        const Tensor<T>& bias, double eps) {
  return normalize(x, size_of(last), weight, bias, eps, true, size_of(last));
}
template <class T> Tensor<T> rms_norm(const Tensor<T>& x, const Shape& last, const Tensor<T>& weight,
                                      double eps, Int partial = 0) {
  return normalize(x, size_of(last), weight, {}, eps, false, partial > 0 ? partial : size_of(last));
}
// BatchNorm and GroupNorm bring what is normalized together into one row, normalize the rows and go back.
// Then they multiply by a weight for each channel, and add a bias, as section 5 does.
template <class T> Tensor<T> per_channel(const Tensor<T>& h, const Tensor<T>& weight, const Tensor<T>& bias) {
  Shape shape(h.shape().size() - 1, 1);
  shape[0] = h.size(1);
  return h * reshape(weight, shape) + reshape(bias, shape);
}
template <class T>
Tensor<T> batch_norm(const Tensor<T>& x, const Tensor<T>& weight, const Tensor<T>& bias, double eps) {
  std::vector<int> order{1, 0};
  for (size_t d = 2; d < x.shape().size(); ++d) order.push_back(static_cast<int>(d));
  const Tensor<T> channels = permute(x, order);
  const Int per_row = x.numel() / std::max<Int>(x.size(1), 1);
  const Tensor<T> h = layer_norm(reshape(channels, {x.size(1), per_row}), {per_row}, {}, {}, eps);
  return per_channel(permute(reshape(h, channels.shape()), order), weight, bias);
}
template <class T> Tensor<T> group_norm(const Tensor<T>& x, Int groups, const Tensor<T>& weight,
                                        const Tensor<T>& bias, double eps) {
  const Int rows = x.size(0) * groups, per_row = rows > 0 ? x.numel() / rows : 0;
  return per_channel(reshape(layer_norm(reshape(x, {rows, per_row}), {per_row}, {}, {}, eps), x.shape()),
                     weight, bias);
}

// --- 10  without a norm -----------------------------------------------------------------------------------
//   DyT      y = weight · tanh(alpha x) + bias                                           (Zhu et al. 2025)
//   DyISRU   y = (√d weight) · x / √(x² + C) + bias, C = e^log_c, d columns              (Stollenwerk 2025)
//
// Both are weight · t(x, s) + bias with one number s. A formula gives t, and of its slopes what they share:
// the slope by x is shared · by_x, by s shared · by_s. The sum of ds goes over chunks of rows; within a chunk
// column c goes to lane c mod 16, whatever the row.
template <class T> struct Slopes { T value, shared, by_x, by_s; };
template <class T, class F> Tensor<T> squashed(const Tensor<T>& x, const Tensor<T>& s,
                                               const Tensor<T>& weight, const Tensor<T>& bias, double factor,
                                               const F& t) {
  const Int columns = weight.numel(), rows = columns > 0 ? x.numel() / columns : 0;
  const T scale = static_cast<T>(factor);
  const auto at = [=](Int i) { return t(x.value().x[i], s.value().x[0]); };
  const auto w = [=](Int i) { return scale * weight.value().x[i % columns]; };
  const auto b = [=](Int i) { return bias.defined() ? bias.value().x[i % columns] : T(0); };
  return recorded(
      made<T>(x.shape(), [&](Int i) { return w(i) * at(i).value + b(i); }), [=](const Array<T>& dy) {
        give(x, made<T>(x.shape(), [&](Int i) { return dy.x[i] * (w(i) * at(i).shared) * at(i).by_x; }));
        std::vector<double> sums;
        for (Int n = 0; n < rows; n += rows_in_chunk(rows, columns)) {
          Lanes sum;
          for (Int i = n * columns; i < std::min(rows, n + rows_in_chunk(rows, columns)) * columns; ++i)
            sum.add(i % columns, dy.x[i] * (w(i) * at(i).shared) * at(i).by_s);
          sums.push_back(sum.total());
        }
        const double ds = lane_sum(static_cast<Int>(sums.size()), [&](Int i) { return sums[i]; });
        give(s, {s.shape(), {static_cast<T>(ds)}});
        give(weight, {weight.shape(), sum_over_rows<T, T>(rows, columns, [&](Int i) {
                        return dy.x[i] * (at(i).value * scale);
                      })});
        if (bias.defined())
          give(bias, {bias.shape(), sum_over_rows<T, T>(rows, columns, [&](Int i) { return dy.x[i]; })});
      });
}
template <class T>
Tensor<T> dyt(const Tensor<T>& x, const Tensor<T>& alpha, const Tensor<T>& weight, const Tensor<T>& bias) {
  return squashed(x, alpha, weight, bias, 1, [](T v, T a) {
    const T y = tanh(a * v);
    return Slopes<T>{y, 1 - y * y, a, v};
  });
}
template <class T>
Tensor<T> dyisru(const Tensor<T>& x, const Tensor<T>& log_c, const Tensor<T>& weight, const Tensor<T>& bias) {
  return squashed(x, log_c, weight, bias, std::sqrt(static_cast<double>(weight.numel())), [](T v, T p) {
    const T bound = sizeof(T) == 4 ? T(0x1p63) : T(0x1p511);  // beyond, v² overflows
    const T u = v > bound ? bound : v < -bound ? -bound : v;
    const T c = exp(p), q = 1 / std::sqrt(u * u + c);
    return Slopes<T>{u * q, q * q * q, c, u * T(-0.5) * c};
  });
}

// --- 11  rows of logits -----------------------------------------------------------------------------------

// The largest number of a row, Σ e^(x − largest) in lanes, and these exponentials.
template <class T> struct Exponentials {
  T largest = -std::numeric_limits<T>::infinity();
  std::vector<T> e;
  double sum;

  Exponentials(const T* x, Int n) {
    for (Int i = 0; i < n; ++i) largest = x[i] > largest ? x[i] : largest;
    for (Int i = 0; i < n; ++i) e.push_back(exp(x[i] - largest));
    sum = lane_sum(n, [&](Int i) { return e[i]; });
  }
};
// p = e · (1 / Σ e),  dx = p (dy − Σ dy p)
template <class T> Tensor<T> softmax(const Tensor<T>& x) {
  const Int n = x.size(-1);
  Array<T> p = x.value();
  for (Int i = 0; i < p.size(); i += n) {
    const Exponentials<T> row(&x.value().x[i], n);
    for (Int c = 0; c < n; ++c) p.x[i + c] = row.e[c] * static_cast<T>(1 / row.sum);
  }
  return recorded(p, [=](const Array<T>& dy) {
    Array<T> dx = dy;
    for (Int i = 0; i < p.size(); i += n) {
      const T dot = static_cast<T>(lane_sum(n, [&](Int c) { return dy.x[i + c] * p.x[i + c]; }));
      for (Int c = i; c < i + n; ++c) dx.x[c] = p.x[c] * (dy.x[c] - dot);
    }
    give(x, dx);
  });
}
// y = (x − largest) − ln Σ e^(x − largest),  dx = dy − e^y Σ dy
template <class T> Tensor<T> log_softmax(const Tensor<T>& x) {
  const Int n = x.size(-1);
  Array<T> y = x.value();
  for (Int i = 0; i < y.size(); i += n) {
    const Exponentials<T> row(&x.value().x[i], n);
    for (Int c = i; c < i + n; ++c) y.x[c] = (y.x[c] - row.largest) - static_cast<T>(log(row.sum));
  }
  return recorded(y, [=](const Array<T>& dy) {
    Array<T> dx = dy;
    for (Int i = 0; i < y.size(); i += n) {
      const T total = static_cast<T>(lane_sum(n, [&](Int c) { return dy.x[i + c]; }));
      for (Int c = i; c < i + n; ++c) dx.x[c] = dy.x[c] - exp(y.x[c]) * total;
    }
    give(x, dx);
  });
}
// The mean over rows with a target ≥ 0 of ln Σ eˣ − x[target];  dx = (e · share, less `scale` at the target),
// where scale = 1 / rows and share = scale / Σ e; times dloss unless that is 1.
template <class T> Tensor<T> cross_entropy(const Tensor<T>& x, const std::vector<Int>& targets) {
  const Int n = x.size(-1), rows = static_cast<Int>(targets.size());
  const auto counted =
      static_cast<double>(std::count_if(targets.begin(), targets.end(), [](Int t) { return t >= 0; }));
  const T scale = static_cast<T>(1 / counted);
  Array<T> dx = filled(x.shape(), T(0));
  std::vector<double> losses(rows, 0.0);
  for (Int r = 0; r < rows; ++r) {
    if (targets[r] < 0) continue;
    const Exponentials<T> row(&x.value().x[r * n], n);
    const double chosen = static_cast<double>(x.value().x[r * n + targets[r]]);
    losses[r] = (static_cast<double>(row.largest) - chosen) + log(row.sum);
    for (Int c = 0; c < n; ++c)
      dx.x[r * n + c] = row.e[c] * static_cast<T>(static_cast<double>(scale) / row.sum);
    dx.x[r * n + targets[r]] -= scale;
  }
  const double total = long_sum(rows, [&](Int r) { return losses[r]; });
  return recorded(Array<T>{{}, {static_cast<T>(total / counted)}}, [=](const Array<T>& dy) {
    give(x, dy.x[0] == 1 ? dx : mapped(dx, [=](T d) { return d * dy.x[0]; }));
  });
}
// With weights w of the classes and label smoothing ε: per row with a target, of l = −log_softmax(x) (N, V),
// (1 − ε) (l[target] w[target]) + ε / V Σ l w; the sum of them over the sum of w[target].
template <class T> Tensor<T> cross_entropy(const Tensor<T>& x, const std::vector<Int>& targets,
                                           const std::vector<T>& w, double smoothing) {
  const Int n = x.size(-1), rows = static_cast<Int>(targets.size());
  const Tensor<T> l = log_softmax(x) * -1.0;
  Array<T> picked = filled({rows}, T(0)), of_target = picked, counted = picked;
  for (Int r = 0; r < rows; ++r) {
    const Int t = std::max<Int>(targets[r], 0);
    picked.x[r] = l.value().x[r * n + t], of_target.x[r] = w[t], counted.x[r] = targets[r] < 0 ? T(0) : w[t];
  }
  const Tensor<T> chosen = recorded(picked, [=](const Array<T>& dy) {
    Array<T> dl = filled(l.shape(), T(0));
    for (Int r = 0; r < rows; ++r) dl.x[r * n + std::max<Int>(targets[r], 0)] += dy.x[r];
    give(l, dl);
  });
  const Tensor<T> all = sum(l * Tensor<T>(Array<T>{{n}, w}), {-1});
  const Tensor<T> each_row =
      chosen * Tensor<T>(of_target) * (1 - smoothing) + all * (smoothing / static_cast<double>(n));
  const auto kept = [=](Array<T> a) {
    for (Int r = 0; r < rows; ++r) a.x[r] = targets[r] < 0 ? T(0) : a.x[r];
    return a;
  };
  const Tensor<T> losses =
      recorded(kept(each_row.value()), [=](const Array<T>& dy) { give(each_row, kept(dy)); });
  return sum(losses) / static_cast<double>(sum(Tensor<T>(counted)).value().x[0]);
}
// Rows of the weight (V, C) by index. A row's gradient is summed in T, over positions in ascending order.
template <class T>
Tensor<T> embedding(const std::vector<Int>& indices, const Shape& shape, const Tensor<T>& weight) {
  const Int n = weight.size(1);
  Array<T> y{shape, {}};
  y.shape.push_back(n);
  for (Int row : indices)
    for (Int c = 0; c < n; ++c) y.x.push_back(weight.value().x[row * n + c]);
  return recorded(y, [=](const Array<T>& dy) {
    Array<T> dx = filled(weight.shape(), T(0));
    for (Int i = 0; i < dy.size(); ++i) dx.x[indices[i / n] * n + i % n] += dy.x[i];
    give(weight, dx);
  });
}

// --- 12  attention ----------------------------------------------------------------------------------------
// q (B, T, H, D), k and v (B, S, K, D): query head h reads key head h / (H / K). Query t sees all keys or,
// where causal, those up to t + S − T.
//
//   z = scale · q kᵀ, or softcap · tanh(q kᵀ · (scale / softcap))
//   P = e^(z − largest) · (1 / Σ)           out = P v            each a chain, over channels or over keys
//   dz = P (dout vᵀ − Σ dout out) scale, with a softcap times 1 − (z / softcap)²
//   dq = dz k,   dk = dzᵀ q,  dv = Pᵀ dout     dk and dv are chains over the query heads, then their queries
template <class T>
Tensor<T> attention(const Tensor<T>& q, const Tensor<T>& k, const Tensor<T>& v, bool causal, double cap = 0) {
  const Int queries = q.size(1), heads = q.size(2), dim = q.size(3), keys = k.size(1), kv_heads = k.size(2);
  const T scale = static_cast<T>(1 / std::sqrt(static_cast<double>(dim))), c = static_cast<T>(cap);
  const auto dot = [=](const T* a, const T* b) {
    T sum = 0;
    for (Int d = 0; d < dim; ++d) sum = std::fma(a[d], b[d], sum);
    return sum;
  };
  // body(place of a query, of the first key that its head reads, z and P of the keys that it sees)
  const auto for_queries = [=](const auto& body) {
    for (Int b = 0; b < q.size(0); ++b)
      for (Int h = 0; h < heads; ++h)
        for (Int t = 0; t < queries; ++t) {
          const Int at = ((b * queries + t) * heads + h) * dim;
          const Int key = (b * keys * kv_heads + h / (heads / kv_heads)) * dim;
          std::vector<T> z(causal ? t + 1 + keys - queries : keys);
          for (size_t s = 0; s < z.size(); ++s) {
            const T qk = dot(&q.value().x[at], &k.value().x[key + s * kv_heads * dim]);
            z[s] = cap > 0 ? tanh(qk * (scale / c)) * c : qk * scale;
          }
          Exponentials<T> row(z.data(), static_cast<Int>(z.size()));
          for (T& p : row.e) p *= static_cast<T>(1 / row.sum);
          body(at, key, z, row.e);
        }
  };
  Array<T> out = filled(q.shape(), T(0));
  for_queries([&](Int at, Int key, const auto&, const std::vector<T>& p) {
    for (size_t j = 0; j < p.size(); ++j)
      for (Int d = 0; d < dim; ++d)
        out.x[at + d] = std::fma(p[j], v.value().x[key + j * kv_heads * dim + d], out.x[at + d]);
  });
  return recorded(out, [=](const Array<T>& dout) {
    Array<T> dq = filled(q.shape(), T(0)), dk = filled(k.shape(), T(0)), dv = dk;
    for_queries([&](Int at, Int key, const std::vector<T>& z, const std::vector<T>& p) {
      const double sum = lane_sum(dim, [&](Int d) { return dout.x[at + d] * out.x[at + d]; });
      for (size_t j = 0; j < p.size(); ++j) {
        const Int place = key + j * kv_heads * dim;
        T dz = p[j] * (dot(&dout.x[at], &v.value().x[place]) - static_cast<T>(sum)) * scale;
        if (cap > 0) dz = dz * (1 - z[j] / c * (z[j] / c));
        for (Int d = 0; d < dim; ++d) {
          dq.x[at + d] = std::fma(dz, k.value().x[place + d], dq.x[at + d]);
          dk.x[place + d] = std::fma(dz, q.value().x[at + d], dk.x[place + d]);
          dv.x[place + d] = std::fma(p[j], dout.x[at + d], dv.x[place + d]);
        }
      }
    });
    give(q, dq), give(k, dk), give(v, dv);
  });
}
// Channels j and j + D/2 of x (B, T, H, D) turned by the angle t · base^(−2j/D); its gradient turns back.
template <class T> Tensor<T> rope(const Tensor<T>& x, double base) {
  const Int time = x.size(1), heads = x.size(2), dim = x.size(3), half = dim / 2;
  const auto turned = [=](const Array<T>& a, T turn) {
    Array<T> y = a;
    for (Int i = 0; i < a.size(); ++i) {
      const Int j = i % dim;
      if (j >= half) continue;
      const double frequency = pow(base, -2 * static_cast<double>(j) / static_cast<double>(dim));
      const double angle = static_cast<double>(i / dim / heads % time) * frequency;
      const T p = static_cast<T>(cos(angle)), q = turn * static_cast<T>(sin(angle));
      y.x[i] = a.x[i] * p - a.x[i + half] * q;
      y.x[i + half] = a.x[i] * q + a.x[i + half] * p;
    }
    return y;
  };
  return recorded(turned(x.value(), T(1)), [=](const Array<T>& dy) { give(x, turned(dy, T(-1))); });
}

// With a mask (B, H, T, S) that is added to the logits, as the ops above give it; H = K.
template <class T>
Tensor<T> attention(const Tensor<T>& q, const Tensor<T>& k, const Tensor<T>& v, const Tensor<T>& mask) {
  const auto heads_first = [](const Tensor<T>& x) { return permute(x, {0, 2, 1, 3}); };
  const Tensor<T> z =
      matmul(heads_first(q), transpose(heads_first(k))) * (1 / std::sqrt(static_cast<double>(q.size(3))));
  return heads_first(matmul(softmax(z + mask), heads_first(v)));
}

// --- 13  random numbers -----------------------------------------------------------------------------------
// A stream is a key; its draw number i is a function of key and i alone. Philox4x32-10 (Salmon et al. 2011)
// makes two draws of 64 bits from a counter: draws 2c and 2c + 1.
inline std::uint64_t philox(std::uint64_t counter, std::uint64_t key, int word) {
  std::uint32_t x[4] = {static_cast<std::uint32_t>(counter), static_cast<std::uint32_t>(counter >> 32), 0, 0};
  std::uint32_t k[2] = {static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32)};
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p = std::uint64_t{0xD2511F53} * x[0], q = std::uint64_t{0xCD9E8D57} * x[2];
    x[0] = static_cast<std::uint32_t>(q >> 32) ^ x[1] ^ k[0], x[1] = static_cast<std::uint32_t>(q);
    x[2] = static_cast<std::uint32_t>(p >> 32) ^ x[3] ^ k[1], x[3] = static_cast<std::uint32_t>(p);
    k[0] += 0x9E3779B9, k[1] += 0xBB67AE85;
  }
  return x[2 * word] | std::uint64_t{x[2 * word + 1]} << 32;
}
// The standard normal quantile (Wichura 1988, AS 241): a ratio of polynomials of degree 7 in the middle, one
// in the tails, one far out. Its steps are a product and a sum, not fused.
inline double ratio(double factor, double x, const double (&c)[16]) {
  double above = c[7], below = c[15];
  for (int i = 6; i >= 0; --i) above = above * x + c[i], below = below * x + c[i + 8];
  return factor * above / below;
}
inline double normal_quantile(double p) {
  constexpr double middle[16] = {3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3,
                                 1.3731693765509461125e4, 4.5921953931549871457e4, 6.7265770927008700853e4,
                                 3.3430575583588128105e4, 2.5090809287301226727e3, 1,
                                 4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3,
                                 2.1213794301586595867e4, 3.9307895800092710610e4, 2.8729085735721942674e4,
                                 5.2264952788528545610e3};
  constexpr double tail[16] = {
      1.42343711074968357734e0,  4.63033784615654529590e0,  5.76949722146069140550e0,
      3.64784832476320460504e0,  1.27045825245236838258e0,  2.41780725177450611770e-1,
      2.27238449892691845833e-2, 7.74545014278341407640e-4, 1,
      2.05319162663775882187e0,  1.67638483018380384940e0,  6.89767334985100004550e-1,
      1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4,
      1.05075007164441684324e-9};
  constexpr double far[16] = {6.65790464350110377720e0,  5.46378491116411436990e0,  1.78482653991729133580e0,
                              2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
                              2.71155556874348757815e-5, 2.01033439929228813265e-7, 1,
                              5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
                              7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7,
                              2.04426310338993978564e-15};
  const double q = p - 0.5;
  if (std::abs(q) <= 0.425) return ratio(q, 0.180625 - q * q, middle);
  const double r = std::sqrt(-log(std::min(p, 1 - p)));
  return std::copysign(r <= 5 ? ratio(1, r - 1.6, tail) : ratio(1, r - 5, far), q);
}

struct Rng {
  std::uint64_t key;

  // A stream by number, whose key is the first draw of a counter with the highest bit set; and by name, by
  // the hash FNV-1a of its bytes.
  Rng split(std::uint64_t number) const {
    return {philox(number | std::uint64_t{1} << 63, key, 0) ^ (number >> 63) * 0x9E3779B97F4A7C15};
  }
  Rng split(const std::string& name) const {
    std::uint64_t hash = 0xcbf29ce484222325;
    for (unsigned char c : name) hash = (hash ^ c) * 0x100000001b3;
    return split(hash);
  }
  // The middle of one of 2⁵³ cells of (0, 1).
  double uniform_at(Int i) const {
    return (static_cast<double>(philox(i / 2, key, i % 2) >> 11) + 0.5) * 0x1p-53;
  }
  template <class T> Array<T> uniform(const Shape& shape, double low, double high) const {
    return made<T>(shape, [&](Int i) { return static_cast<T>(low + (high - low) * uniform_at(i)); });
  }
  template <class T> Array<T> normal(const Shape& shape, double mean, double std) const {
    return made<T>(shape, [&](Int i) { return static_cast<T>(mean + std * normal_quantile(uniform_at(i))); });
  }
};
// Element i is 0 where draw i is below p, else x / (1 − p). Backward draws the same numbers.
template <class T> Tensor<T> dropout(const Tensor<T>& x, double p, const Rng& rng) {
  const auto masked = [=](const Array<T>& a) {
    return made<T>(a.shape, [&](Int i) { return rng.uniform_at(i) < p ? T(0) : a.x[i] * T(1 / (1 - p)); });
  };
  return recorded(masked(x.value()), [=](const Array<T>& dy) { give(x, masked(dy)); });
}

// --- 14  training -----------------------------------------------------------------------------------------
// A step moves each parameter w along its gradient, and clears the gradient. Settings are doubles, rounded to
// T once; `factor` clips: it multiplies dw.

// d = factor · dw + decay · w,  m ← momentum · m + d,  w ← w − lr · m,  or · (d + momentum · m) by Nesterov
template <class T> struct SGD {
  double lr, momentum = 0, decay = 0;
  bool nesterov = false;
  std::map<Int, std::vector<T>> m = {};  // by the parameter's number

  void step(const std::vector<Tensor<T>>& parameters, double factor = 1) {
    for (const Tensor<T>& w : parameters) {
      std::vector<T>& sums = m.try_emplace(w.node->number, w.numel(), T(0)).first->second;
      for (Int i = 0; i < w.numel(); ++i) {
        T& x = w.value().x[i];
        const T d = T(factor) * w.grad().x[i] + T(decay) * x;
        sums[i] = momentum != 0 ? T(momentum) * sums[i] + d : d;
        x -= T(lr) * (nesterov ? d + T(momentum) * sums[i] : sums[i]);
      }
      w.grad() = {};
    }
  }
};
// v ← α v + (1 − α) d²,  g ← α g + (1 − α) d,  m ← momentum · m + d / (√(v − g²) + eps),  d = factor · dw
// w ← w − lr · m; where not centred, √v takes the place of √(v − g²)
template <class T> struct RMSprop {
  double lr = 1e-2, alpha = 0.99, eps = 1e-8, momentum = 0;
  bool centered = false;
  std::map<Int, std::array<std::vector<T>, 3>> states = {};

  void step(const std::vector<Tensor<T>>& parameters, double factor = 1) {
    for (const Tensor<T>& w : parameters) {
      auto& [v, g, m] = states[w.node->number];
      v.resize(w.numel()), g.resize(w.numel()), m.resize(w.numel());
      for (Int i = 0; i < w.numel(); ++i) {
        const T d = T(factor) * w.grad().x[i];
        v[i] = T(alpha) * v[i] + T(1 - alpha) * d * d, g[i] = T(alpha) * g[i] + T(1 - alpha) * d;
        const T square = centered ? std::max(v[i] - g[i] * g[i], T(0)) : v[i];
        m[i] = T(momentum) * m[i] + d / (std::sqrt(square) + T(eps));
        w.value().x[i] -= T(lr) * m[i];
      }
      w.grad() = {};
    }
  }
};
// m ← β₁ m + (1 − β₁) d,  v ← β₂ v + (1 − β₂) d²,  d = factor · dw, t the number of the step
// w ← (1 − lr · decay) w − lr / (1 − β₁ᵗ) · m / (√v · (1 / √(1 − β₂ᵗ)) + eps)
template <class T> struct AdamW {
  double lr = 1e-3, beta1 = 0.9, beta2 = 0.999, eps = 1e-8, decay = 0.01;
  double t = 0;
  std::map<Int, std::pair<std::vector<T>, std::vector<T>>> moments = {};

  void step(const std::vector<Tensor<T>>& parameters, double factor = 1) {
    ++t;
    const T rate = T(lr / (1 - pow(beta1, t))), unroot = T(1 / std::sqrt(1 - pow(beta2, t)));
    for (const Tensor<T>& w : parameters) {
      auto& [m, v] = moments[w.node->number];
      m.resize(w.numel()), v.resize(w.numel());
      for (Int i = 0; i < w.numel(); ++i) {
        T& x = w.value().x[i];
        const T d = T(factor) * w.grad().x[i];
        m[i] = T(beta1) * m[i] + T(1 - beta1) * d;
        v[i] = T(beta2) * v[i] + T(1 - beta2) * d * d;
        x = T(1 - lr * decay) * x - rate * m[i] / (unroot * std::sqrt(v[i]) + T(eps));
      }
      w.grad() = {};
    }
  }
};
// A learning rate: a straight line up over `warmup` steps, then half a cosine from lr down to min_lr.
struct WarmupCosine {
  double lr, min_lr;
  Int warmup, steps;

  double operator()(Int step) const {
    if (step < warmup) return lr * static_cast<double>(step + 1) / static_cast<double>(warmup + 1);
    if (step >= steps) return min_lr;
    const double way = static_cast<double>(step - warmup) / static_cast<double>(steps - warmup);
    return min_lr + 0.5 * (1 + cos(std::numbers::pi * way)) * (lr - min_lr);
  }
};
// √Σ dw² over all parameters, as one concatenation in chunks of 2¹³: in a chunk the lane sums of the runs of
// its parameters are added in order; the chunks are added in lanes.
template <class T> double grad_norm(const std::vector<Tensor<T>>& parameters, double scale = 1) {
  constexpr Int chunk = 1 << 13;
  std::vector<double> sums;
  Int at = 0;
  for (const Tensor<T>& w : parameters)
    for (Int begin = 0, count; begin < w.numel(); begin += count, at += count) {
      count = std::min(w.numel() - begin, chunk - at % chunk);
      if (at % chunk == 0) sums.push_back(0);
      sums.back() += lane_sum(count, [&](Int i) { return squared(w.grad().x[begin + i] * scale); });
    }
  const double sum = lane_sum(static_cast<Int>(sums.size()), [&](Int i) { return sums[i]; });
  if (scale != 1 || squares_fit(sum)) return std::sqrt(sum) / scale;
  double largest = 0;
  for (const Tensor<T>& w : parameters)
    for (const T d : w.grad().x) largest = std::max<double>(largest, std::abs(d));
  const double s = scale_for(largest);
  return s == 1 ? std::sqrt(sum) : grad_norm(parameters, s);
}
inline double clip_factor(double norm, double most) {
  return most / (norm + 1e-6) >= 1 ? 1 : most / (norm + 1e-6);
}
// Gradients of the pieces of a batch, each of loss / pieces, are added in one tree, whoever computed them:
// sum(0 … n) = sum(0 … k) + sum(k … n), k the largest power of two below n (RFC 6962).
template <class T> Array<T> tree_sum(const std::vector<Array<T>>& parts) {
  if (parts.size() == 1) return parts[0];
  const auto half = parts.begin() + static_cast<Int>(std::bit_floor(parts.size() - 1));
  return combined(tree_sum<T>({parts.begin(), half}), tree_sum<T>({half, parts.end()}),
                  [](T a, T b) { return a + b; });
}

}  // namespace spec
