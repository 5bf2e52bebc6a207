// Initial weights: bounds, moments within their standard errors, orthogonality.
#include "../../nn/init.h"

#include <doctest/doctest.h>

#include <cmath>

#include "../../nn/observe.h"

namespace isobar::init_test {

struct Case {
  std::string name;
  Tensor (*draw)(const Shape&, const Rng&);
  double std;  // for (out, in) = (120, 200)
  bool is_uniform;
};

const Shape shape{120, 200};

const std::vector<Case> cases{
    {"linear_default", [](const Shape& s, const Rng& r) { return init::linear_default(s, s[1], r); },
     1 / std::sqrt(3 * 200.0), true},
    {"xavier_uniform", [](const Shape& s, const Rng& r) { return init::xavier_uniform(s, r); },
     std::sqrt(2 / 320.0), true},
    {"xavier_normal", [](const Shape& s, const Rng& r) { return init::xavier_normal(s, r, 3); },
     3 * std::sqrt(2 / 320.0), false},
    {"he_uniform", [](const Shape& s, const Rng& r) { return init::he_uniform(s, r); }, std::sqrt(2 / 200.0),
     true},
    {"he_normal", [](const Shape& s, const Rng& r) { return init::he_normal(s, r); }, std::sqrt(2 / 200.0),
     false},
    {"lecun_normal", [](const Shape& s, const Rng& r) { return init::lecun_normal(s, r); },
     std::sqrt(1 / 200.0), false},
};

// The largest difference between A Aᵀ and gain² · 1, A the rows of w, or of its transpose where w has more
// rows than columns.
double distance_from_orthogonal(const Tensor& w, double gain) {
  const int64_t out = w.size(0), in = w.numel() / out;
  const std::vector<double> values = w.to_vector<double>();
  const int64_t count = std::min(out, in), length = std::max(out, in);
  const auto element = [&](int64_t i, int64_t k) {
    return out <= in ? values[i * in + k] : values[k * in + i];
  };
  double worst = 0;
  for (int64_t i = 0; i < count; ++i)
    for (int64_t j = 0; j < count; ++j) {
      double product = 0;
      for (int64_t k = 0; k < length; ++k) product += element(i, k) * element(j, k);
      worst = std::max(worst, std::abs(product - (i == j ? gain * gain : 0)));
    }
  return worst;
}

TEST_CASE("initial weights have the mean, the std and the range of their distribution") {
  for (const Case& c : cases) {
    CAPTURE(c.name);
    const Tensor w = c.draw(shape, Rng(5));
    const Moments moments = moments_of(w);
    const double n = static_cast<double>(w.numel());
    // Five standard errors: σ/√n of the mean; σ √((κ − 1)/4n) of the std, κ = 3 (normal) or 9/5 (uniform).
    CHECK(std::abs(moments.mean) < 5 * c.std / std::sqrt(n));
    const double kurtosis = c.is_uniform ? 1.8 : 3;
    CHECK(std::abs(moments.std - c.std) < 5 * c.std * std::sqrt((kurtosis - 1) / (4 * n)));
    double largest = 0;
    for (double value : w.to_vector<double>()) largest = std::max(largest, std::abs(value));
    const double bound = c.std * std::sqrt(3.0);
    if (c.is_uniform) {
      CHECK(largest <= bound * (1 + 1e-7));  // the bound itself is rounded to f32
      CHECK(largest > 0.999 * bound);        // 24,000 draws all below it: probability 4e-11
    } else {
      CHECK(largest > 1.5 * bound);
    }
    CHECK_FALSE(w.trainable());
    CHECK(c.draw(shape, Rng(5)).to_vector<double>() == w.to_vector<double>());
    CHECK(c.draw(shape, Rng(6)).to_vector<double>() != w.to_vector<double>());
  }
}

TEST_CASE("fans count the receptive field") {
  CHECK(init::fans_of({6, 4}).in == 4);
  CHECK(init::fans_of({6, 4}).out == 6);
  CHECK(init::fans_of({6, 4, 3, 3}).in == 36);
  CHECK(init::fans_of({6, 4, 3, 3}).out == 54);
}

TEST_CASE("orthogonal weights are orthogonal: square, wide, tall, with gain, of more dimensions") {
  for (const Shape& s :
       {Shape{40, 40}, Shape{7, 30}, Shape{30, 7}, Shape{1, 5}, Shape{5, 1}, Shape{6, 2, 5}}) {
    CAPTURE(s.text());
    // Twice Gram–Schmidt in f64: only the rounding of the products summed here is left.
    CHECK(distance_from_orthogonal(init::orthogonal(s, Rng(1), 1, Dtype::f64), 1) < 1e-13);
    CHECK(distance_from_orthogonal(init::orthogonal(s, Rng(2), std::sqrt(2.0)), std::sqrt(2.0)) < 1e-6);
    const Tensor plain = init::orthogonal(s, Rng(1));
    CHECK(plain.shape() == s);
    CHECK(distance_from_orthogonal(plain, 1) < 1e-6);
  }
}

TEST_CASE("the trace of random orthogonal matrices has mean 0 and variance 1, as Haar's measure demands") {
  // Without the sign that makes the measure Haar's, the diagonal leans to one side.
  double sum = 0, squares = 0;
  const int count = 400, width = 6;
  for (int seed = 0; seed < count; ++seed) {
    const Tensor q = init::orthogonal({width, width}, Rng(static_cast<uint64_t>(seed)), 1, Dtype::f64);
    double trace = 0;
    for (int64_t i = 0; i < width; ++i) trace += q.at({i, i});
    sum += trace;
    squares += trace * trace;
  }
  CHECK(std::abs(sum / count) < 5 / std::sqrt(count));
  // The trace is nearly normal: its square has variance 2.
  CHECK(std::abs(squares / count - 1) < 5 * std::sqrt(2.0 / count));
}

}  // namespace isobar::init_test
