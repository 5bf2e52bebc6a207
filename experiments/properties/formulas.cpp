// The definitions that the sources print, spelled out in ops and held against the library's fused norms, in
// f64 unless said.
#include <cmath>
#include <numbers>

#include "../../nn/nn.h"
#include "properties.h"

namespace isobar::properties {
namespace {

Tensor mean_square(const Tensor& x) { return mean(square(x), {-1}, true); }

// A07, B01, B02, C01, D16.
void spelled_out(Measurements& measurements, const Rng& rng) {
  const Tensor x = rng.split("x").normal({32, 48}, 1, 2, Dtype::f64);
  const Tensor weight = rng.split("weight").normal({48}, 1, 0.3, Dtype::f64);
  const Tensor bias = rng.split("bias").normal({48}, 0, 0.3, Dtype::f64);
  const Tensor centred = x - mean(x, {-1}, true);
  measurements.add("formula.layernorm.error",
                   largest_difference(layer_norm(x, {48}, weight, bias, 1e-5),
                                      centred / sqrt(mean_square(centred) + 1e-5) * weight + bias),
                   0, 1e-13);
  measurements.add(
      "formula.rmsnorm.error",
      largest_difference(rms_norm(x, {48}, weight, 1e-5), x / sqrt(mean_square(x) + 1e-5) * weight), 0,
      1e-13);
  measurements.add(
      "formula.batchnorm.error",
      largest_difference(batch_norm(x, weight, bias, 1e-5),
                         (x - mean(x, {0}, true)) / sqrt(var(x, {0}, true, 0) + 1e-5) * weight + bias),
      0, 1e-13);
  const Tensor length = sqrt(sum(square(x), {-1}, true));
  measurements.add("formula.sqrt_d.error",
                   largest_difference(rms_norm(x, {48}, {}, 0), x / length * std::sqrt(48.0)), 0, 1e-13);
  // C03, one way and the other.
  measurements.add("formula.layernorm_is_rmsnorm_of_centred.error",
                   largest_difference(layer_norm(x, {48}, {}, {}, 1e-5), rms_norm(centred, {48}, {}, 1e-5)),
                   0, 1e-13);
  measurements.add("formula.rmsnorm_is_layernorm.difference",
                   largest_difference(layer_norm(x, {48}, {}, {}, 1e-5), rms_norm(x, {48}, {}, 1e-5)));
  // D27: the weight before or after the change of type is one product.
  measurements.add("formula.weight_first.error",
                   largest_difference(weight * rms_norm(x, {48}, {}, 1e-5), rms_norm(x, {48}, weight, 1e-5)),
                   0, 1e-13);
}

// B09: x / rms · weight against x · rsqrt(…) · weight, in f32.
void two_forms(Measurements& measurements, const Rng& rng) {
  const Tensor x = rng.split("x").normal({64, 512});
  const Tensor root = sqrt(mean_square(x) + 1e-6);
  measurements.add("formula.two_forms_f32.error", largest_difference(x / root, x * reciprocal(root)), 0);
}

// C01: the running variance uses n − 1, the forward pass n.
void running_variance(Measurements& measurements, const Rng& rng) {
  BatchNorm1d norm(3, {.momentum = 1.0});
  const Tensor x = rng.split("x").normal({8, 3});
  norm(x);
  const double population = var(x, {0}, false, 0).at({0});
  measurements.add("formula.batchnorm.running_var_ratio", norm.running_var.at({0}) / population, 8.0 / 7);
}

// Source 000's listing with element_affine=False: no gamma.
void without_weight(Measurements& measurements, const Rng& rng) {
  const Tensor x = rng.normal({32, 48}, 1, 2, Dtype::f64);
  RMSNorm norm(48, {.elementwise_affine = false});
  measurements.add("formula.rmsnorm_without_weight.error",
                   largest_difference(norm(x), x * reciprocal(sqrt(mean_square(x) + 1e-5))), 0, 1e-13);
}

// A11, A12, C05: what normalized_shape means.
void shapes(Measurements& measurements, const Rng& rng) {
  const Tensor x = rng.split("x").normal({2, 2, 3}, 0, 1, Dtype::f64);
  const Tensor y = rms_norm(x, {2, 3}, {}, 0);
  measurements.add("shape.slab.mean_square", sum(square(y)).item() / 12, 1, 1e-13);
  measurements.add("shape.slab.first_mean_square", sum(square(slice(y, 0, 0, 1))).item() / 6, 1, 1e-13);
  measurements.add("shape.last_dimension_only.difference", largest_difference(y, x / sqrt(mean_square(x))));
  measurements.add("shape.last_dimension_only.difference_of_one",
                   largest_difference(rms_norm(x, {3}, {}, 0), x / sqrt(mean_square(x))), 0);
  RMSNorm norm(Shape{512});
  const Tensor z = norm(rng.split("z").normal({1, 10, 512}));
  measurements.add("shape.kept", z.shape() == Shape{1, 10, 512} ? 1 : 0, 1, 0);
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
    measurements.add(
        "partial.formula.error.k" + std::to_string(k),
        largest_difference(rms_norm(x, {512}, {}, 0, k), x / sqrt(mean_square(slice(x, 1, 0, k)))), 0, 1e-13);
  }
}

// D28: where the norm is in a residual block, with a Linear as the branch.
void placements(Measurements& measurements, const Rng& rng) {
  const Tensor x = rng.split("x").normal({1, 4, 16});
  for (const Placement placement : {Placement::pre, Placement::post}) {
    const auto branch = [&](const char* name) { return std::make_unique<Linear>(16, 16, rng.split(name)); };
    TransformerBlock block(16, branch("attention"), branch("mlp"), {.placement = placement});
    const auto norm = [](const Tensor& v) { return rms_norm(v, {16}, {}, 1e-5); };
    Tensor y = x;
    for (Module* part : {block.self_attn.get(), block.mlp.get()})
      y = placement == Placement::pre ? y + (*part)(norm(y)) : norm(y + (*part)(y));
    measurements.add(placement == Placement::pre ? "formula.pre_norm.error" : "formula.post_norm.error",
                     largest_difference(block(x), y), 0, 1e-5);
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

// D03, F01, F05: one ReLU, DyT's formula, and √(1 + 2u) beside 1 + u.
void single_steps(Measurements& measurements, const Rng& rng) {
  const Tensor x = rng.split("x").normal({32, 512}, 0, 1, Dtype::f64);
  measurements.add("relu.std", std::sqrt(var(relu(x)).item()), std::sqrt(0.5 - 0.5 / std::numbers::pi));
  const Tensor alpha = full({1}, 0.5, Dtype::f64),
               weight = rng.split("weight").normal({512}, 1, 0.1, Dtype::f64);
  const Tensor bias = rng.split("bias").normal({512}, 0, 0.1, Dtype::f64);
  measurements.add("formula.dyt.error",
                   largest_difference(dyt(x, alpha, weight, bias), weight * tanh(alpha * x) + bias), 0,
                   1e-13);
  for (const double u : {0.001, 1.0})
    measurements.add(fmt::format("expansion.u{:g}.relative_error", u), (1 + u) / std::sqrt(1 + 2 * u) - 1);
}

}  // namespace

void measure_formulas(Measurements& measurements, const Rng& rng) {
  spelled_out(measurements, rng.split("spelled out"));
  two_forms(measurements, rng.split("two forms"));
  without_weight(measurements, rng.split("without weight"));
  running_variance(measurements, rng.split("running"));
  shapes(measurements, rng.split("shapes"));
  folding(measurements, rng.split("folding"));
  partial(measurements, rng.split("partial"));
  placements(measurements, rng.split("placements"));
  products(measurements, rng.split("products"));
  single_steps(measurements, rng.split("steps"));
}

}  // namespace isobar::properties
