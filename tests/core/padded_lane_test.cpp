// The last, incomplete register of a row is padded with zeros, and what a kernel computes in the padding
// must reach no sum. Extreme parameters make the padding infinite or NaN in f32; the oracle is the composed
// form in f64, which a higher-order tape runs.
#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "../../autograd/ops.h"
#include "../../autograd/tape.h"

namespace isobar::padded_lane_test {

using Inputs = std::vector<Tensor>;

// An op at an extreme: inputs whose rows are `columns` wide.
struct Extreme {
  std::string name;
  std::function<Inputs(int64_t columns)> inputs;
  std::function<Tensor(const Inputs& in, int64_t columns)> f;
};

Tensor noise(int64_t columns, const char* name) { return Rng(7).split(name).normal({3, columns}); }
Tensor weight_of(int64_t columns) { return Rng(8).normal(Shape{columns}, 1, 0.3); }
Tensor number(double value) { return full(Shape{1}, value); }
constexpr double inf = std::numeric_limits<double>::infinity();

std::vector<Extreme> extremes() {
  const auto curve = [](Tensor (*op)(const Tensor&, const Tensor&, const Tensor&, const Tensor&)) {
    return [op](const Inputs& in, int64_t) { return op(in[0], in[1], in[2], in[2]); };
  };
  const auto curve_inputs = [](double p) {
    return [p](int64_t columns) { return Inputs{noise(columns, "x"), number(p), weight_of(columns)}; };
  };
  const auto rows_of = [](double scale) {
    return [scale](int64_t columns) { return Inputs{noise(columns, "x") * scale, weight_of(columns)}; };
  };
  const auto constant_rows = [](double value) {
    return [value](int64_t columns) { return Inputs{full({3, columns}, value), weight_of(columns)}; };
  };
  const auto layer = [](const Inputs& in, int64_t columns) {
    return layer_norm(in[0], Shape{columns}, in[1], in[1], 1e-5);
  };
  const auto rms = [](const Inputs& in, int64_t columns) {
    return rms_norm(in[0], Shape{columns}, in[1], 1e-5);
  };
  const auto part = [](const Inputs& in, int64_t columns) {
    return rms_norm(in[0], Shape{columns}, in[1], 1e-5, (columns + 1) / 2);
  };
  const auto minus_infinity = [](int64_t columns) {
    const Tensor one = columns > 1 ? concat({full({3, 1}, -inf), noise(columns - 1, "x")}, 1) : noise(1, "x");
    return Inputs{one};
  };
  return {
      {"dyisru, C underflows", curve_inputs(-110), curve(dyisru)},
      {"dyisru, C is denormal", curve_inputs(-95), curve(dyisru)},
      {"dyt, alpha infinite", curve_inputs(inf), curve(dyt)},
      {"dyt, alpha large", curve_inputs(1e30), curve(dyt)},
      {"dyt_sqrtd, inv_rho infinite", curve_inputs(inf), curve(dyt_sqrtd)},
      {"layer_norm, mean · r overflows", constant_rows(3e38), layer},
      {"layer_norm, large x", rows_of(1e30), layer},
      {"layer_norm, x is denormal", rows_of(1e-40), layer},
      {"rms_norm, large x", rows_of(1e30), rms},
      {"rms_norm, x is zero", constant_rows(0), rms},
      {"rms_norm over a part, large x", rows_of(1e30), part},
      {"softmax, large x", rows_of(1e30), [](const Inputs& in, int64_t) { return softmax(in[0]) * in[1]; }},
      {"softmax, one −∞", minus_infinity, [](const Inputs& in, int64_t) { return softmax(in[0]); }},
      {"log_softmax, large negative x", constant_rows(-3e38),
       [](const Inputs& in, int64_t) { return log_softmax(in[0]) * in[1]; }},
      {"cross_entropy, large negative x", constant_rows(-3e38),
       [](const Inputs& in, int64_t) { return cross_entropy(in[0], zeros({3}, Dtype::i64)); }},
      {"swiglu, large gate", rows_of(1e30),
       [](const Inputs& in, int64_t) { return swiglu(in[0], in[0] * 1e-30); }},
      {"gelu, large x", rows_of(1e30), [](const Inputs& in, int64_t) { return gelu(in[0]); }},
      {"silu, large x", rows_of(1e30), [](const Inputs& in, int64_t) { return silu(in[0]); }},
      {"squared_relu, large x", rows_of(1e15), [](const Inputs& in, int64_t) { return squared_relu(in[0]); }},
  };
}

// The value, then the gradients by every input; in f32, or composed and in f64.
std::vector<std::vector<double>> run(const Extreme& extreme, int64_t columns, bool composed) {
  Inputs leaves;
  for (const Tensor& x : extreme.inputs(columns))
    leaves.push_back(cast(x, composed ? Dtype::f64 : Dtype::f32).detach().set_trainable());
  Tape tape({.higher_order = composed});
  const Tensor y = extreme.f(leaves, columns);
  std::vector<std::vector<double>> result{y.to_vector<double>()};
  const Tensor dy = cast(Rng(2).normal(y.shape()), y.dtype());
  for (const Tensor& dx : tape.gradient(y, leaves, dy)) result.push_back(dx.to_vector<double>());
  return result;
}

// The largest distance, relative to the largest finite value of both; infinite where one is finite alone.
double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = 1e-2, apart = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::isfinite(a[i]) != std::isfinite(b[i])) return inf;
    if (!std::isfinite(a[i])) continue;
    largest = std::max(largest, std::abs(b[i]));
    apart = std::max(apart, std::abs(a[i] - b[i]));
  }
  return a.size() == b.size() ? apart / largest : inf;
}

TEST_CASE("what a kernel computes in the padding of a row reaches no sum") {
  for (const Extreme& extreme : extremes())
    for (const int64_t columns : {1, 15, 16, 17, 31}) {
      // With one column LayerNorm's gradient is nothing but rounding.
      if (columns == 1 && extreme.name.starts_with("layer_norm")) continue;
      const auto fused = run(extreme, columns, false), composed = run(extreme, columns, true);
      REQUIRE(fused.size() == composed.size());
      for (size_t i = 0; i < fused.size(); ++i) {
        INFO("name ", extreme.name, ", columns ", columns);
        CAPTURE(i);                                      // 0 is the value, 1 the gradient of the first input
        CHECK(distance(fused[i], composed[i]) <= 1e-5);  // some tens of roundings of f32
      }
    }
}

}  // namespace isobar::padded_lane_test
