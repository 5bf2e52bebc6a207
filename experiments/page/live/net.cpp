#include "net.h"

#include <bit>
#include <numeric>

#include "../../../core/rng.h"
#include "../../../data/utf8_stream.h"
#include "../../../nn/norm.h"
#include "layers.h"
#include "product.h"

extern "C" __attribute__((import_module("page"), import_name("multiply"))) void page_multiply(const float* a,
                                                                                              const float* b,
                                                                                              float* c, int m,
                                                                                              int k, int n);

// A single fused multiply-add, which the definition's functions take from the C library: this one is faster. The product is
// exact in double. Where its sum with c is a normal float's size and no midpoint of two floats, no midpoint lies between it and
// the exact sum, so that both round to one float.
extern "C" float fmaf(float a, float b, float c) {
  const double sum = static_cast<double>(a) * b + c;
  if (std::abs(sum) >= 0x1p-126 && (std::bit_cast<uint64_t>(sum) & 0x1fffffff) != 0x10000000)
    return static_cast<float>(sum);
  using isobar::live::fused;
  return wasm_f32x4_extract_lane(fused(wasm_f32x4_splat(a), wasm_f32x4_splat(b), wasm_f32x4_splat(c)), 0);
}

namespace isobar::live {
namespace {

// --- Products: every element is the definition's chain. Who multiplies is the page's choice: relaxed.cpp or
//     multiply() of this module.

Int padded(Int columns) { return (columns + 7) / 8 * 8; }

// x (rows, columns) with zeros up to `width` columns; and its transpose.
std::vector<float> widened(const float* x, Int rows, Int columns, Int width) {
  std::vector<float> y(rows * width);
  for (Int r = 0; r < rows; ++r) std::copy_n(x + r * columns, columns, &y[r * width]);
  return y;
}
std::vector<float> turned(const float* x, Int rows, Int columns, Int width) {
  std::vector<float> y(columns * width);
  for (Int r = 0; r < rows; ++r)
    for (Int c = 0; c < columns; ++c) y[c * width + r] = x[r * columns + c];
  return y;
}
// a (M, K) times b (K, N).
std::vector<float> product(const float* a, const float* b, Int m, Int k, Int n) {
  const Int width = padded(n);
  std::vector<float> c(m * width);
  const std::vector<float> wide = width == n ? std::vector<float>() : widened(b, k, n, width);
  page_multiply(a, width == n ? b : wide.data(), c.data(), m, k, width);
  if (width == n) return c;
  std::vector<float> y(m * n);
  for (Int r = 0; r < m; ++r) std::copy_n(&c[r * width], n, &y[r * n]);
  return y;
}

}  // namespace

// y = x Wᵀ + bias as its transpose, W xᵀ.
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  const Int m = weight.size(0), k = weight.size(1), n = x.numel() / k, width = padded(n);
  std::vector<float> y(m * width);
  for (Int i = 0; i < m * width; ++i) y[i] = bias.defined() ? bias.value().x[i / width] : 0;
  page_multiply(weight.value().x.data(), turned(x.value().x.data(), n, k, width).data(), y.data(), m, k,
                width);
  Array out = spec::filled({n, m}, 0.0f);
  for (Int r = 0; r < n; ++r)
    for (Int c = 0; c < m; ++c) out.x[r * m + c] = y[c * width + r];
  return spec::recorded(std::move(out), [=](const Array& dy) {
    give(x, {x.shape(), product(dy.x.data(), weight.value().x.data(), n, m, k)});
    const std::vector<float> dy_turned = turned(dy.x.data(), n, m, n);
    give(weight, {weight.shape(), product(dy_turned.data(), x.value().x.data(), m, n, k)});
    if (bias.defined()) give(bias, spec::summed_to(dy, bias.shape()));
  });
}

// --- Parameters.

namespace {

Parameters* trained = nullptr;

}  // namespace

Parameters::Use::Use(Parameters& parameters) { trained = &parameters, parameters.next_ = 0; }
Parameters::Use::~Use() { trained = nullptr; }
Tensor parameter_made(const std::function<Array()>& make) {
  if (trained == nullptr) return spec::trainable(make());
  return trained->next(make);
}
Tensor parameter(const spec::Shape& shape, double value) {
  return parameter_made([&] { return spec::filled(shape, static_cast<float>(value)); });
}

namespace {

// --- Initial weights, as ../../nets/decay/net.cpp and nn/init.cpp have them.

// Modified Gram–Schmidt by columns, twice.
void orthonormalize(std::vector<double>& a, Int n) {
  std::vector<double> products(n);
  for (Int j = 0; j < n; ++j) {
    double squares = 0;
    for (Int i = 0; i < n; ++i) squares += a[i * n + j] * a[i * n + j];
    const double scale = 1 / std::sqrt(squares);
    for (Int i = 0; i < n; ++i) a[i * n + j] *= scale;
    std::fill(products.begin() + j, products.end(), 0.0);
    for (Int i = 0; i < n; ++i)
      for (Int k = j + 1; k < n; ++k) products[k] += a[i * n + j] * a[i * n + k];
    for (Int i = 0; i < n; ++i)
      for (Int k = j + 1; k < n; ++k) a[i * n + k] -= a[i * n + j] * products[k];
  }
}
Array orthogonal(Int n, const spec::Rng& rng, double gain) {
  std::vector<double> q = rng.normal<double>({n, n}, 0, 1).x;
  orthonormalize(q, n), orthonormalize(q, n);
  return spec::made<float>({n, n}, [&](Int i) { return static_cast<float>(q[i] * gain); });
}
Array initial_weight(const std::string& init, Int n, const spec::Rng& rng) {
  const spec::Shape shape{n, n};
  if (init.starts_with("default")) return spec::linear_default<float>(shape, n, rng);
  if (init == "normal01") return rng.normal<float>(shape, 0, 1);
  if (init == "xavier_uniform") return spec::uniform_of_std<float>(shape, spec::xavier_std(n, n), rng);
  if (init == "xavier_normal") return rng.normal<float>(shape, 0, spec::xavier_std(n, n));
  if (init == "he_uniform") return spec::uniform_of_std<float>(shape, spec::he_std(n), rng);
  if (init == "he_normal") return rng.normal<float>(shape, 0, spec::he_std(n));
  if (init == "lecun_normal") return rng.normal<float>(shape, 0, 1 / std::sqrt(static_cast<double>(n)));
  return orthogonal(n, rng, init == "orthogonal" ? 1 : std::numbers::sqrt2);
}

// --- Norms of `make_norm`, by its names.

// Rows' variances (divided by C), as autograd/ops/variance.cpp has them.
Tensor variance(const Tensor& x) {
  const Int columns = x.size(1), rows = x.size(0);
  const auto count = static_cast<double>(columns);
  std::vector<double> mean(rows);
  Array y = spec::filled({rows, 1}, 0.0f);
  for (Int r = 0; r < rows; ++r) {
    const float* row = &x.value().x[r * columns];
    mean[r] = spec::long_sum(columns, [=](Int c) { return row[c]; }) / count;
    const auto off = [row, m = mean[r]](Int c) { return row[c] - m; };
    const double rest = spec::long_sum(columns, off);
    const double squares =
        spec::long_sum(columns, [=](Int c) { return off(c) * off(c); }) - rest * rest / count;
    y.x[r] = static_cast<float>((squares < 0 ? 0 : squares) / count);
  }
  return spec::recorded(y, [=](const Array& dy) {
    give(x, spec::made<float>(x.shape(), [&](Int i) {
           return static_cast<float>(2 * static_cast<double>(dy.x[i / columns]) / count *
                                     (x.value().x[i] - mean[i / columns]));
         }));
  });
}
// weight · t(x, s) + bias, of autograd/ops/dyt.cpp.
Tensor derf(const Tensor& x, const Tensor& alpha, const Tensor& weight, const Tensor& bias) {
  return spec::squashed(x, alpha, weight, bias, 1, [](float v, float a) {
    const float u = a * v + 0.0f;  // its shift starts at 0
    return spec::Slopes<float>{spec::erf(u), spec::exp(-(u * u)) * spec::erf_slope<float>, a, v};
  });
}
Tensor dyt_sqrtd(const Tensor& x, const Tensor& inv_rho, const Tensor& weight, const Tensor& bias) {
  const auto d = static_cast<float>(std::sqrt(static_cast<double>(weight.numel())));
  return spec::squashed(x, inv_rho, weight, bias, std::sqrt(static_cast<double>(weight.numel())),
                        [d](float v, float p) {
                          const float y = spec::tanh(p / d * v);
                          return spec::Slopes<float>{y, 1 - y * y, p / d, v / d};
                        });
}

Formula own_formula{"x"};

struct Norm {
  const char* name;
  bool takes_alpha;
  std::function<Tensor(const Tensor& x, Int width, std::optional<double> alpha)> of;
};
constexpr double eps = 1e-5;
const std::vector<Norm>& norms() {
  using X = const Tensor&;
  using A = std::optional<double>;
  const auto one = [](Int width) { return parameter({width}, 1); };
  const auto zero = [](Int width) { return parameter({width}, 0); };
  static const std::vector<Norm> all = {
      {"none", false, [=](X x, Int, A) { return x; }},
      {"layernorm", false, [=](X x, Int n, A) { return layer_norm(x, {n}, one(n), zero(n), eps); }},
      {"rmsnorm", false, [=](X x, Int n, A) { return rms_norm(x, {n}, one(n), eps); }},
      {"prmsnorm", false,
       [=](X x, Int n, A) {
         const double share = std::max(0.0625, 1 / static_cast<double>(n));
         return rms_norm(x, {n}, one(n), eps, static_cast<Int>(static_cast<double>(n) * share));
       }},
      {"batchnorm", false, [=](X x, Int n, A) { return batch_norm(x, one(n), zero(n), eps); }},
      {"groupnorm", false,
       [=](X x, Int n, A) { return group_norm(x, std::gcd(Int{4}, n), one(n), zero(n), eps); }},
      {"centernorm", false, [=](X x, Int n, A) { return (x - mean(x, {-1}, true)) * one(n); }},
      {"stdnorm", false, [=](X x, Int n, A) { return x / sqrt(variance(x) + eps) * one(n); }},
      {"dyt", true,
       [=](X x, Int n, A a) { return dyt(x, parameter({1}, a.value_or(0.5)), one(n), zero(n)); }},
      {"dyt_sqrtd", true,
       [=](X x, Int n, A a) { return dyt_sqrtd(x, parameter({1}, a.value_or(1)), one(n), zero(n)); }},
      {"dyisru", true,
       [=](X x, Int n, A a) {
         const double log_c = spec::log(a.value_or(static_cast<double>(n)));
         return dyisru(x, parameter({1}, log_c), one(n), zero(n));
       }},
      {"formula", false, [=](X x, Int n, A) { return computed(own_formula, x, one(n), zero(n)); }},
      {"derf", true,
       [=](X x, Int n, A a) { return derf(x, parameter({1}, a.value_or(0.5)), one(n), zero(n)); }}};
  return all;
}
const Norm& norm_named(std::string_view name) {
  const auto at = std::ranges::find(norms(), name, &Norm::name);
  check(at != norms().end(), "norm: wanted one of make_norm's, got {}", name);
  return *at;
}

// --- What is measured, as nn/observe.cpp has it.

double squares(const Array& x, double from) {
  return spec::long_sum(x.size(), [&](Int i) { return spec::squared(x.x[i] - from); });
}
double std_of(const Array& x) {
  const auto n = static_cast<double>(x.size());
  const double mean = spec::long_sum(x.size(), [&](Int i) { return x.x[i]; }) / n;
  return std::sqrt(squares(x, mean) / (n - 1));
}
// x, whose gradient is there when `seen` is called: all that comes after x has had its own.
template <class Seen>
Tensor watched(const Tensor& x, const Seen& seen) {
  return spec::recorded(x.value(), [=](const Array& dy) { seen(), give(x, dy); });
}

}  // namespace

// --- The net. Where it goes through once, weights are made where they are used, so that their gradients are complete as
//     soon as the gradient has come down to the layer's input.

Tensor Layer::linear_named(const Tensor& x, const char* name) {
  const spec::Rng own = rng.split(name);
  const Int n = config.width;
  const Tensor w = parameter_made([&] {
    const Array drawn = initial_weight(config.init, n, own.split("weight"));
    return scale == 1 ? drawn : spec::times(drawn, scale);
  });
  Tensor bias;
  if (config.init == "default")
    bias = parameter_made([&] { return spec::linear_default<float>({n}, n, own.split("bias")); });
  else if (config.init != "default_nobias")
    bias = parameter({n}, 0);
  if (!weight.defined()) weight = w;
  return linear(x, w, bias);
}
Tensor normed_by(const decay::Config& config, const Tensor& x) {
  const std::optional<double> alpha = config.alpha >= 0 ? std::optional(config.alpha) : std::nullopt;
  return config.norm == "none" ? x : norm_named(config.norm).of(x, config.width, alpha);
}
Tensor Layer::normed(const Tensor& x) {
  const Tensor y = normed_by(config, x);
  if (config.norm != "none") norm_std = std_of(y.value());
  return y;
}
Tensor Layer::branch(const Tensor& x) { return linear_named(relu(linear_named(x, "linear1")), "linear2"); }
Tensor Layer::fixup(const Tensor& x) {
  const Int n = config.width;
  const double gain = spec::he_std(1) / std::sqrt(static_cast<double>(config.depth));
  // In the order in which they are used.
  const Tensor b1 = parameter({1}, 0);
  weight = parameter_made([&] {
    const Array drawn = rng.split("linear1").split("weight").normal<float>(
        {n, n}, 0, gain / std::sqrt(static_cast<double>(n)));
    return scale == 1 ? drawn : spec::times(drawn, scale);
  });
  const Tensor b2 = parameter({1}, 0), factor = parameter({1}, 1), last = parameter({n, n}, 0),
               b3 = parameter({1}, 0);
  const Tensor h = relu(linear(x + b1, weight, {}) + b2);
  return x + factor * linear(h, last, {}) + b3;
}
Tensor Layer::operator()(const Tensor& x) {
  const std::string& topology = config.topology;
  if (topology == "plain" && config.order == "relu_norm") return normed(relu(linear_named(x, "linear1")));
  if (topology == "plain") return relu(normed(linear_named(x, "linear1")));
  if (topology == "fixup") return fixup(x);
  if (topology == "pre") return x + branch(normed(x));
  if (topology == "post") return normed(x + branch(x));
  if (topology == "residual") return x + branch(x);
  const double share = topology == "skipinit" ? config.branch_scale() : 0;
  const Tensor factor = parameter({1}, share);
  return x + factor * branch(x);
}

void set_formula(const Formula& formula) { own_formula = formula; }

double run(const decay::Config& config, uint64_t seed, const Listener& listener) {
  const spec::Rng rng{seed}, net = rng.split("net");
  const Array input = rng.split("x").normal<float>({config.batch, config.width}, 0, 1);
  Tensor x(input);
  std::vector<Tensor> inputs;  // of the layers
  for (Int i = 0; i < config.depth; ++i) {
    const auto layer =
        std::make_shared<Layer>(Layer{.config = config, .rng = net.split("layer " + std::to_string(i + 1))});
    x = watched(x, [layer, i, down = listener.down] {
      down(i, std::sqrt(squares(layer->weight.grad(), 0)));
      layer->weight.grad() = {};
    });
    inputs.push_back(x);
    x = (*layer)(x);
    listener.up(i, std_of(x.value()), layer->norm_std);
  }
  const auto weighted = [&] { return Tensor(rng.split("loss").normal<float>(x.shape(), 0, 1)) * x; };
  spec::backward(config.loss == "sum" ? sum(x) : config.loss == "mean" ? mean(x) : sum(weighted()));
  // Layer by layer from the last on: each tensor keeps what it was computed from, and a browser's stack is too
  // small to let go of a thousand layers at once.
  for (x = {}; !inputs.empty(); inputs.pop_back()) inputs.back().node->backward = {};
  return std_of(input);
}

}  // namespace isobar::live

// What the native sources that are compiled here ask of libraries that are not.
namespace isobar {

const Choices& norm_names() {
  static const Choices names = [] {
    Choices of_rows;
    for (const live::Norm& norm : live::norms()) of_rows.emplace_back(norm.name);
    return of_rows;
  }();
  return names;
}
bool takes_alpha(std::string_view name) { return live::norm_named(name).takes_alpha; }
double normal_quantile(double p) { return spec::normal_quantile(p); }
// All texts of charts are the program's own.
std::string printable(std::string_view text) { return std::string(text); }

}  // namespace isobar
