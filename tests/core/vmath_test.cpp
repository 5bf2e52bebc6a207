// Formulas on vector registers, and ReLU's gate of bits.
#include <cstring>
#include <functional>

#include "../../autograd/ops.h"
#include "../../autograd/tape.h"
#include "../../core/kernels/elementary.h"
#include "../../core/kernels/relu.h"
#include "../thread_counts.h"

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
  struct Function {
    float (*fast)(float);
    double (*exact)(double);
  };
  for (const Function& function :
       {Function{kernels::tanh<float>, std::tanh}, Function{kernels::erf<float>, std::erf}}) {
    double worst = 0;
    for (float x = 1e-30f; x < 20; x *= 1.0005f) {
      const double exact = function.exact(static_cast<double>(x));
      worst = std::max(worst, std::abs(static_cast<double>(function.fast(x)) / exact - 1));
      CHECK(function.fast(-x) == -function.fast(x));
      CHECK(function.fast(x) <= 1);
    }
    CHECK(worst <= 5e-7);
  }
}

TEST_CASE_TEMPLATE("an element of a formula has the same bits whatever its neighbours are", T, float,
                   double) {
  using L = kernels::Lane<T>;
  constexpr int64_t w = kernels::width<T>;
  const T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  std::vector<T> x = Rng(1).normal({64 * w}, 0, 20, dtype_of<T>()).template to_vector<T>();
  const T odd[] = {
      nan, inf, -inf, T{0}, T(-0.0), T(1e30), T(1e-30), T{2}, std::numeric_limits<T>::denorm_min()};
  for (size_t i = 0; i < x.size(); i += 5) x[i] = odd[i / 5 % 9];
  const std::vector<T> z(x.rbegin(), x.rend());
  const auto row = [&](const char* name, const auto& f) {
    CAPTURE(name);
    T mixed[w], alone[w];
    int64_t wrong = 0;
    for (size_t i = 0; i < x.size(); i += w) {
      kernels::store(L(f(L(kernels::load(&x[i])), L(kernels::load(&z[i])))).v, mixed);
      for (int64_t l = 0; l < w; ++l) {
        using V = typename L::V;
        kernels::store(L(f(L(kernels::splat<V>(x[i + l])), L(kernels::splat<V>(z[i + l])))).v, alone);
        wrong +=
            std::memcmp(&mixed[l], alone, sizeof(T)) != 0 && !(std::isnan(mixed[l]) && std::isnan(alone[0]));
      }
    }
    CHECK(wrong == 0);
  };
  row("maximum", [](auto a, auto b) { return maximum(a, b); });
  row("minimum", [](auto a, auto b) { return minimum(a, b); });
  row("isru", [](auto a, auto b) { return isru(a, abs(b)); });
  row("comparisons", [](auto a, auto b) {
    return where((a < b && a != b) || !(a >= 1) || a == 2, a, where(a > b || a <= -1, b, 3));
  });
  row("sin", [](auto a, auto) { return sin(a); });
  row("cos", [](auto a, auto) { return cos(a); });
  row("tanh", [](auto a, auto) { return tanh(a); });
  row("erf", [](auto a, auto) { return erf(a); });
  row("log", [](auto a, auto) { return log(a); });
  row("sigmoid", [](auto a, auto) { return sigmoid(a); });
  row("silu", [](auto a, auto) { return silu(a); });
  row("rsqrt", [](auto a, auto) { return rsqrt(a); });
  row("softplus", [](auto a, auto) { return softplus(a); });
  row("pow", [](auto a, auto) { return pow(a, 2.5); });
}

TEST_CASE_TEMPLATE("comparisons, maximum and minimum of a formula treat NaN and -0 as ops.h says", T, float,
                   double) {
  using L = kernels::Lane<T>;
  const T nan = std::numeric_limits<T>::quiet_NaN();
  const auto first = [](const L& x) { return x.v[0]; };
  CHECK(std::isnan(first(maximum(L(nan), L(1)))));
  CHECK(std::isnan(first(minimum(L(1), L(nan)))));
  CHECK(first(where(L(nan) != L(nan), L(1), L(2))) == 1);
  CHECK(first(where(!(L(nan) >= L(0)), L(1), L(2))) == 1);
  CHECK(first(where(L(nan) == L(nan) || L(nan) < L(0), L(1), L(2))) == 2);
  CHECK(std::signbit(first(-L(0))));
  CHECK(std::signbit(first(L(-0.0))));
}

}  // namespace isobar::vmath_test
