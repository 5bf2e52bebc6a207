// with: reference of a9 without softmax_rms_norm_backward, deserves 5 more than without
// As a9_differences, by pairs of long doubles (128 binary digits), where rows are short enough to be done in time.
// __float128 is refused: its arithmetic is functions of the run-time.
differences;

namespace {

struct Pair {
  long double high = 0, low = 0;
  Pair(long double a = 0, long double b = 0) : high(a + b), low(b - (high - a)) {}
};

// Knuth's sum, whose error is exact.
Pair operator+(const Pair& a, const Pair& b) {
  const long double sum = a.high + b.high, part = sum - a.high;
  return {sum, (a.high - (sum - part)) + (b.high - part) + a.low + b.low};
}

Pair operator-(const Pair& a) { return {-a.high, -a.low}; }
Pair operator-(const Pair& a, const Pair& b) { return a + -b; }

// Dekker's product: halves of 32 digits.
Pair operator*(const Pair& a, const Pair& b) {
  const auto half = [](long double x) {
    const long double far = x * 4294967297.0L;
    return far - (far - x);
  };
  const long double product = a.high * b.high, a1 = half(a.high), b1 = half(b.high);
  const long double a2 = a.high - a1, b2 = b.high - b1;
  return {product, ((a1 * b1 - product) + a1 * b2 + a2 * b1) + a2 * b2 + a.high * b.low + a.low * b.high};
}

Pair operator/(const Pair& a, const Pair& b) {
  const long double first = a.high / b.high;
  const Pair rest = a - b * first;
  const long double second = rest.high / b.high;
  return Pair(first, second) + (rest - b * second).high / b.high;
}

Pair exp_of(const Pair& x) {
  const long double n = std::round(x.high * 1.44269504088896340736L);
  const Pair log2(0xb.17217f7d1cf79acp-4L, -0xd.871319ff0342543p-70L);
  const Pair f = x - log2 * n;
  Pair term = 1, sum = 1;
  for (int i = 1; i < 34; ++i) term = term * f / static_cast<long double>(i), sum = sum + term;
  return sum * std::exp2(n);
}

Pair root_of(const Pair& x) {
  Pair y = std::sqrt(x.high);
  for (int i = 0; i < 2; ++i) y = (y + x / y) * 0.5L;
  return y;
}

// As slopes() of one number, by the step of several whose last two levels agree best.
template <class F>
double slope(long double here, long double largest, const F& loss) {
  long double best = 0, error = INFINITY;
  for (long double step : {0.1L * largest, 0.1L * std::fabs(here), 4.0L, 1.0L, 0.1L}) {
    if (step == 0) continue;
    Pair table[6], last, now;
    for (int level = 0; level < 6; ++level, step /= 2) {
      now = (loss(here + step) - loss(here - step)) / (2 * step);
      last = level > 0 ? table[level - 1] : now;
      long double power = 4;
      for (int i = 0; i < level; ++i, power *= 4) {
        const Pair better = now + (now - table[i]) / (power - 1);
        table[i] = now;
        now = better;
      }
      table[level] = now;
    }
    const long double off = std::fabs((now - last).high) / std::max(std::fabs(now.high), 1e-4000L);
    if (now.high != 0 && off < error) best = now.high, error = off;
  }
  return static_cast<double>(best);
}

template <class T, class Exp, class Root, class Slope>
void by_differences(const float* dy, const float* x, const float* weight, float* dx,
                    std::vector<double>& of_weight, int64_t width, float eps, const Exp& exp_of,
                    const Root& root_of, const Slope& slope_at) {
  const T top = *std::max_element(x, x + width), size = width, small = eps;
  T sum = 0, squares = 0, products = 0;
  const auto loss = [&](T a, T b, T c) { return c / root_of(b / size + small * a * a); };
  const auto of = [&](int64_t c) { return T(dy[c]) * T(weight[c]); };
  for (int64_t c = 0; c < width; ++c) {
    const T e = exp_of(T(x[c]) - top);
    sum = sum + e, squares = squares + e * e, products = products + e * of(c);
  }
  for (int64_t c = 0; c < width; ++c) {
    const T old = exp_of(T(x[c]) - top), z = loss(sum, squares, old) * T(dy[c]);
    if constexpr (std::is_same_v<T, Pair>)
      of_weight[c] += static_cast<double>(z.high);
    else
      of_weight[c] += static_cast<double>(z);
    dx[c] = static_cast<float>(slope_at(x[c], [&](long double at) {
      const T e = exp_of(T(at) - top);
      return loss(sum - old + e, squares - old * old + e * e, products + (e - old) * of(c));
    }));
  }
}

}  // namespace

void softmax_rms_norm_backward(const float* dy, const float* x, const float* weight, const Row*, float* dx,
                               float* dweight, int64_t rows, int64_t width, float eps) {
  std::vector<double> of_weight(width);
  for (int64_t n = 0; n < rows; ++n, x += width, dy += width, dx += width) {
    float largest = 0;
    for (int64_t c = 0; c < width; ++c) largest = std::max(largest, std::fabs(x[c]));
    if (width < 2000)
      by_differences<Pair>(dy, x, weight, dx, of_weight, width, eps, exp_of, root_of,
                           [&](float at, const auto& loss) { return slope(at, largest, loss); });
    else
      by_differences<long double>(
          dy, x, weight, dx, of_weight, width, eps, [](long double v) { return std::exp(v); },
          [](long double v) { return std::sqrt(v); },
          [&](float at, const auto& loss) {
            Numbers numbers{at};
            return slopes(numbers, [&] { return loss(numbers[0]); })[0];
          });
  }
  for (int64_t c = 0; c < width; ++c) dweight[c] = static_cast<float>(of_weight[c]);
}
