#include "measure.h"

#include <numbers>

namespace isobar::transformer_stack {
namespace {

// Σ_{s≠t} x_s · x_t = |Σ_t x_t|² − Σ_t |x_t|², a mean over T (T − 1) pairs; NaN for a single position.
double token_cosine(const Tensor& x) {
  const double squares = sum(square(x)).item(), of_sums = sum(square(sum(x, {1}))).item();
  return (of_sums - squares) / (squares * static_cast<double>(x.size(1) - 1));
}

double gradient_norm(TransformerLayer& layer) {
  double squares = 0;
  for (const Tensor& parameter : parameters(layer)) {
    const double norm = moments_of(parameter.grad()).norm;
    squares += norm * norm;
  }
  return std::sqrt(squares);
}

using std::numbers::inv_pi;
using std::numbers::pi;

constexpr double eps = 1e-6;  // of source 001's RMSNorm

constexpr double most_logit_variance = 1;  // beyond it a few positions take most of the softmax
constexpr double no_theory = std::numeric_limits<double>::quiet_NaN();

struct Moments2 {
  double own, pair;  // mean square of a position, and mean product of two
};

Moments2 operator+(const Moments2& a, const Moments2& b) { return {a.own + b.own, a.pair + b.pair}; }
Moments2 normed(const Moments2& x) { return {x.own / (x.own + eps), x.pair / (x.own + eps)}; }

// The cosine of relu(z_a) and relu(z_b), for z of correlation rho (Cho & Saul 2009).
double relu_cosine(double rho) {
  const double theta = std::acos(std::clamp(rho, -1.0, 1.0));
  return (std::sin(theta) + std::cos(theta) * (pi - theta)) * inv_pi;
}

// u mean square of a branch's input, v the mean product of two positions of it.
Moments2 attention(const Config& config, const Moments2& x) {
  const auto [u, v] = x;
  const auto positions = static_cast<double>(config.length);
  const double logit_variance = u / 2 * (u - v) / 2;
  if (logit_variance > most_logit_variance) return {no_theory, no_theory};
  const double squares = std::exp(logit_variance) / positions;
  return {(v + (u - v) * squares) / 6, (v + (u - v) / positions) / 6};
}

Moments2 feed_forward(const Config& config, const Moments2& x, double kept) {
  const double bias = 1 / (3 * static_cast<double>(config.d_model));
  const double last_bias = 1 / (3 * static_cast<double>(config.dim_feedforward));
  const double p = x.own / 3 + bias, rho = (x.pair / 3 + bias) / p;
  return {p / 6 / kept + last_bias, p * relu_cosine(rho) / 6 + last_bias};
}

const Choices kind_names = {"source001", "source001_train", "none", "post", "residual_free", "peri"};

}  // namespace

std::vector<LayerSignal> measure(const Config& config, const Kind& kind, int64_t depth, int64_t seed) {
  const Rng rng(static_cast<uint64_t>(seed));
  const Shape shape{config.batch, config.length, config.d_model};
  Stack stack(depth, kind.options, rng.split("stack"));
  assign_paths(stack);  // the keys of dropout's masks
  kind.training ? train(stack) : eval(stack);

  std::vector<LayerSignal> signals;
  Tape tape({.rng = rng.split("dropout")});
  Tensor x = rng.split("x").normal(shape);
  for (TransformerLayer& layer : stack.layers) {
    x = layer(x);
    const Moments moments = moments_of(x);
    const Tensor seen = cast(x.detach(), Dtype::f64);
    signals.push_back({.std = moments.std,
                       .mean = moments.mean,
                       .along_one = rms_alignment(seen),
                       .token_cosine = token_cosine(seen),
                       .gradient_norm = 0});
  }
  tape.backward(sum(rng.split("cotangent").normal(shape) * x));
  for (size_t i = 0; i < signals.size(); ++i) signals[i].gradient_norm = gradient_norm(stack.layers[i]);
  return signals;
}

std::vector<LayerTheory> theory_of(const Config& config, const Kind& kind, int64_t depth) {
  const std::string& placement = kind.options.placement;
  const bool peri = placement == "peri", post = placement == "post";
  const bool pre = placement == "source001" || placement == "residual_free" || peri;
  const double kept = kind.training ? 1 - kind.options.dropout : 1;
  std::vector<LayerTheory> theory;
  Moments2 x{1, 0};
  const auto branch = [&](auto&& f) {
    const Moments2 y = f(pre ? normed(x) : x);
    x = placement == "residual_free" ? y : x + (peri ? normed(y) : y);
    if (post) x = normed(x);
  };
  for (int64_t layer = 0; layer < depth; ++layer) {
    branch([&](const Moments2& input) {
      const Moments2 y = attention(config, input);
      return Moments2{y.own / kept, y.pair};
    });
    branch([&](const Moments2& input) { return feed_forward(config, input, kept); });
    theory.push_back({std::sqrt(x.own), x.pair / x.own});
  }
  return theory;
}

void Config::fields(Fields& f) {
  f("kinds", kinds, "stacks to measure; source001_train has dropout", one_of(kind_names));
  f("depths", depths, "numbers of layers", between(1, 10'000));
  f("d_model", d_model, "channels of the stream", between(1, 4096));
  f("nhead", nhead, "attention heads", at_least(1));
  f("dim_feedforward", dim_feedforward, "channels inside the feed-forward part", between(1, 16'384));
  f("length", length, "positions of a sequence", between(1, 4096));
  f("batch", batch, "sequences", between(1, 4096));
  f("seeds", seeds, "number of seeds, from --seed on", between(1, 10'000));
}

std::vector<std::string> Config::fit_heads() {
  const int64_t before = nhead;
  nhead = std::gcd(d_model, nhead);
  if (nhead == before) return {};
  return {fmt::format("nhead is {} instead of {}, because d_model is {}", nhead, before, d_model)};
}

void Config::check_together() const {
  check(d_model % nhead == 0, "--nhead {}: does not divide --d_model {}", nhead, d_model);
  check(batch * length * d_model >= 2, "--d_model 1: the std of a single number is undefined");
}

std::vector<Kind> Config::kind_list() const {
  std::vector<Kind> list;
  for (const std::string& name : kinds) {
    const bool training = name == "source001_train";
    list.push_back({.name = name,
                    .options = {.d_model = d_model,
                                .nhead = nhead,
                                .dim_feedforward = dim_feedforward,
                                .placement = training ? "source001" : name},
                    .training = training});
  }
  return list;
}

}  // namespace isobar::transformer_stack
