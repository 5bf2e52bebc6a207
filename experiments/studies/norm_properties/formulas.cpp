// What follows from the definitions (tests/claims/definitions_test.cpp has these), in f64 unless said.
#include <numbers>

#include "../../../nn/lm/lm.h"
#include "../../../nn/nn.h"
#include "properties.h"

namespace isobar::properties {
namespace {

Tensor mean_square(const Tensor& x) { return mean(square(x), {-1}, true); }

// C03, one way and the other.
void special_case(Measurements& measurements, const Rng& rng) {
  const Tensor x = rng.split("x").normal({32, 48}, 1, 2, Dtype::f64);
  const Tensor centred = x - mean(x, {-1}, true), y = layer_norm(x, {48}, {}, {}, 1e-5);
  measurements.add("formula.layernorm_is_rmsnorm_of_centred.error",
                   largest_difference(y, rms_norm(centred, {48}, {}, 1e-5)), 0, 1e-13);
  measurements.add("formula.rmsnorm_is_layernorm.difference",
                   largest_difference(y, rms_norm(x, {48}, {}, 1e-5)));
}

// C01: the running variance uses n − 1, the forward pass n.
void running_variance(Measurements& measurements, const Rng& rng) {
  BatchNorm1d norm(3, {.momentum = 1.0});
  const Tensor x = rng.split("x").normal({8, 3});
  norm(x);
  const double population = var(x, {0}, false, 0).at({0});
  measurements.add("formula.batchnorm.running_var_ratio", norm.running_var.at({0}) / population, 8.0 / 7);
}

// A12: what normalized_shape means.
void shapes(Measurements& measurements, const Rng& rng) {
  const Tensor x = rng.split("x").normal({2, 2, 3}, 0, 1, Dtype::f64), root = sqrt(mean_square(x));
  measurements.add("shape.last_dimension_only.difference",
                   largest_difference(rms_norm(x, {2, 3}, {}, 0), x / root));
  measurements.add("shape.last_dimension_only.difference_of_one",
                   largest_difference(rms_norm(x, {3}, {}, 0), x / root), 0);
}

// C10: LayerNorm's bias b vanishes in a Linear's own: W (h + b) + c = W h + (W b + c). Without c it cannot.
void folding(Measurements& measurements, const Rng& rng) {
  const Tensor x = rng.split("x").normal({16, 64}, 0, 1, Dtype::f64);
  const Tensor b = rng.split("b").normal({64}, 0, 1, Dtype::f64);
  const Tensor w = rng.split("w").normal({32, 64}, 0, 0.1, Dtype::f64);
  const Tensor c = rng.split("c").normal({32}, 0, 1, Dtype::f64);
  const Tensor shift = linear(reshape(b, {1, 64}), w);
  const Tensor h = layer_norm(x, {64}, {}, {}, 1e-5), hb = layer_norm(x, {64}, {}, b, 1e-5);
  measurements.add("fold.with_bias.error",
                   largest_difference(linear(hb, w, c), linear(h, w, reshape(shift, {32}) + c)), 0, 1e-13);
  measurements.add("fold.without_bias.difference", largest_difference(linear(hb, w), linear(h, w)));
}

// pRMSNorm measures k of the d features: its rms deviates by √((1/k − 1/d)/2) of itself.
void partial(Measurements& measurements, const Rng& rng) {
  const Tensor x = rng.split("x").normal({512, 512}, 0, 1, Dtype::f64);
  const Tensor whole = sqrt(mean_square(x));
  for (const int64_t k : {32, 128, 256}) {
    const Tensor ratio = sqrt(mean_square(slice(x, 1, 0, k))) / whole;
    measurements.add("partial.rms_deviation.k" + std::to_string(k), std::sqrt(mean(square(ratio - 1)).item()),
                     std::sqrt((1.0 / static_cast<double>(k) - 1.0 / 512) / 2));
  }
}

// D02: the outputs of a matrix of N(0, 1) have a std of √in, whatever out is.
void products(Measurements& measurements, const Rng& rng) {
  for (const auto& [in, out] :
       {std::pair<int64_t, int64_t>{512, 128}, {512, 512}, {512, 2048}, {128, 512}, {2048, 512}}) {
    const Rng own = rng.split(static_cast<uint64_t>(in)).split(static_cast<uint64_t>(out));
    const Tensor x = own.split("x").normal({32, in}, 0, 1, Dtype::f64);
    const Tensor w = own.split("w").normal({out, in}, 0, 1, Dtype::f64);
    measurements.add(fmt::format("product.std.{}_to_{}", in, out), std::sqrt(var(linear(x, w)).item()),
                     std::sqrt(static_cast<double>(in)));
  }
}

// D03, F05: one ReLU, and √(1 + 2u) beside 1 + u.
void single_steps(Measurements& measurements, const Rng& rng) {
  const Tensor x = rng.split("x").normal({32, 512}, 0, 1, Dtype::f64);
  measurements.add("relu.std", std::sqrt(var(relu(x)).item()), std::sqrt(0.5 - 0.5 / std::numbers::pi));
  for (const double u : {0.001, 1.0})
    measurements.add(fmt::format("expansion.u{:g}.relative_error", u), (1 + u) / std::sqrt(1 + 2 * u) - 1);
}

// Of N(0, 1) data, batches of B rows: the rms of BatchNorm's output y less x, which is the output with the
// true mean 0 and std 1. E y² = E x² = 1, and the mean of x y over a batch is its population std s:
//
//   E (y − x)² = 2 − 2 E s,   E s = √(2/B) Γ(B/2) / Γ((B − 1)/2)   (s² B is χ² with B − 1 degrees of freedom)
//
// to first order √(1.5/B).
double batch_norm_error(int64_t batch) {
  const auto b = static_cast<double>(batch);
  const double mean_std = std::sqrt(2 / b) * std::exp(std::lgamma(b / 2) - std::lgamma((b - 1) / 2));
  return std::sqrt(2 - 2 * mean_std);
}

double count(HasFields& model) { return static_cast<double>(parameter_count(model)); }

}  // namespace

void measure_formulas(Measurements& measurements, const Rng& rng) {
  special_case(measurements, rng.split("spelled out"));
  running_variance(measurements, rng.split("running"));
  shapes(measurements, rng.split("shapes"));
  folding(measurements, rng.split("folding"));
  partial(measurements, rng.split("partial"));
  products(measurements, rng.split("products"));
  single_steps(measurements, rng.split("steps"));
}

// B03, C02: statistics over a batch depend on who else is in it, and are poor estimates when it is small.
void measure_batches(Measurements& measurements, const Rng& rng) {
  for (const int64_t batch : {2, 8, 32, 256}) {
    const Tensor x = rng.split(static_cast<uint64_t>(batch)).normal({batch, 4096}, 0, 1, Dtype::f64);
    const double error = std::sqrt(mean(square(batch_norm(x, {}, {}, 1e-5) - x)).item());
    measurements.add(fmt::format("batch.batchnorm.error.b{}", batch), error, batch_norm_error(batch));
  }
  const Tensor x = rng.split("row").normal({256, 512}, 0, 1, Dtype::f64);
  const Tensor all = layer_norm(x, {512}, {}, {}, 1e-5);
  const Tensor alone = layer_norm(slice(x, 0, 0, 1), {512}, {}, {}, 1e-5);
  measurements.add("batch.layernorm.change", largest_difference(slice(all, 0, 0, 1), alone), 0);
}

// Parameters: what leaving out beta saves, in real models.
void measure_counts(Measurements& measurements, const Rng& rng) {
  RMSNorm rms(Shape{512}), without_weight(512, {.elementwise_affine = false});
  LayerNorm layer(Shape{512});
  measurements.add("count.rmsnorm512", count(rms), 512, 0);
  measurements.add("count.rmsnorm512_without_weight", count(without_weight), 0, 0);
  measurements.add("count.layernorm512", count(layer), 1024, 0);
  // B10: source 001's TransformerLayer(512, 8, 2048): attention and a ReLU part, with biases.
  for (const auto& [norm, wanted] : {std::pair{"rmsnorm", 3151360}, {"layernorm", 3152384}}) {
    TransformerBlock block(
        512, std::make_unique<MultiheadAttention>(512, 8, rng.split("attention")),
        std::make_unique<FeedForward>(512, 2048, std::make_unique<ReLU>(), rng.split("ffn")), {.norm = norm});
    measurements.add(fmt::format("count.source001_layer.{}", norm), count(block), wanted, 0);
  }
  // MiniMind as source 003 describes it (B05, D25): 2L + 1 norms of 512.
  LanguageModel model({.n_kv_head = 2, .rope_base = 1e6}, rng.split("minimind"));
  int64_t norms = 0, norm_parameters = 0;
  for (const NamedModule& part : named_modules(model))
    if (part.module->type_name() == "RMSNorm") {
      ++norms;
      norm_parameters += parameter_count(*part.module);
    }
  measurements.add("count.minimind.parameters", count(model), 25829888, 0);
  measurements.add("count.minimind.rmsnorms", static_cast<double>(norms), 2 * 8 + 1, 0);
  // A LayerNorm would have as many parameters again: what the missing beta saves of the whole.
  measurements.add("count.minimind.saved_share", static_cast<double>(norm_parameters) / count(model),
                   17 * 512 / 25829888.0);
}

}  // namespace isobar::properties
