#include "variants.h"

#include "../../../autograd/autograd.h"

namespace isobar::speed {
namespace {

constexpr int64_t counted_rows = 1000, counted_columns = 512;

// --- the norms, fused

Tensor fused_rms_norm(const Tensor& x, const Weights& w) {
  return rms_norm(x, w.weight.shape(), w.weight, eps);
}
Tensor fused_layer_norm(const Tensor& x, const Weights& w) {
  return layer_norm(x, w.weight.shape(), w.weight, w.bias, eps);
}
Tensor fused_layer_norm_no_bias(const Tensor& x, const Weights& w) {
  return layer_norm(x, w.weight.shape(), w.weight, {}, eps);
}
Tensor fused_dyt(const Tensor& x, const Weights& w) { return dyt(x, w.alpha, w.weight, w.bias); }
Tensor fused_dyisru(const Tensor& x, const Weights& w) { return dyisru(x, w.log_c, w.weight, w.bias); }

// --- and spelled out

// The variance as a function of its own, which takes the mean once more: 6 passes. (var() is one op.)
Tensor var_spelled(const Tensor& x) { return mean(square(x - mean(x, {-1}, true)), {-1}, true); }

// Forward 15 passes: mean 1, subtract 2, variance 6, and 2 each for divide, multiply, add.
Tensor layer_norm_var(const Tensor& x, const Weights& w) {
  const Tensor h = (x - mean(x, {-1}, true)) / sqrt(var_spelled(x) + eps);
  return h * w.weight + w.bias;
}

// The variance as the mean of centred squares. Forward 12 passes: mean 1, 2 each for five ops, mean 1.
Tensor layer_norm_squares(const Tensor& x, const Weights& w) {
  const Tensor centred = x - mean(x, {-1}, true);
  const Tensor h = centred / sqrt(mean(square(centred), {-1}, true) + eps);
  return h * w.weight + w.bias;
}

// Forward 7 passes: square 2, mean 1, divide 2, multiply 2.
Tensor rms_norm_spelled(const Tensor& x, const Weights& w) {
  return x / sqrt(mean(square(x), {-1}, true) + eps) * w.weight;
}

// As source 003's normalization_comparison.py writes both: var() is one op, and what x is divided by is its
// reciprocal root times. Forward 10 passes: mean 1, var 1, and 2 each for subtract, multiply, divide, add; 7
// passes: square 2, mean 1, multiply 2, multiply 2.
Tensor layer_norm_script(const Tensor& x, const Weights& w) {
  return w.weight * (x - mean(x, {-1}, true)) / sqrt(var(x, {-1}, true, 0) + eps) + w.bias;
}
Tensor rms_norm_script(const Tensor& x, const Weights& w) {
  return w.weight * (x * reciprocal(sqrt(mean(square(x), {-1}, true) + eps)));
}

// layer_norm_squares over rows in place of columns; with kept statistics 8 passes: 2 each for four ops.
Tensor batch_norm_squares(const Tensor& x, const Weights& w) {
  const Tensor centred = x - mean(x, {0}, true);
  const Tensor h = centred / sqrt(mean(square(centred), {0}, true) + eps);
  return h * w.weight + w.bias;
}
Tensor batch_norm_kept(const Tensor& x, const Weights& w) {
  return (x - w.kept_mean) / sqrt(w.kept_variance + eps) * w.weight + w.bias;
}

// Forward 8 passes: multiply 2, tanh 2, multiply 2, add 2.
Tensor dyt_spelled(const Tensor& x, const Weights& w) { return tanh(x * w.alpha) * w.weight + w.bias; }

void expect_equal_results(Run& run, const Tensor& x, const Weights& w) {
  const auto expect = [&](const char* name, const char* of, const Tensor& wanted) {
    const double most = std::sqrt(max(square(variant_named(name).norm(x, w) - wanted)).item());
    // f32, of outputs up to 5: each op rounds by 6e-8 relative.
    run.expect(fmt::format("{} equals {}", name, of), most < 5e-6, fmt::format("largest |a − b| {}", most));
  };
  for (const auto& [spelled, fused] : {std::pair{"layernorm_var", "layernorm_fused"},
                                       {"layernorm_squares", "layernorm_fused"},
                                       {"layernorm_script", "layernorm_fused"},
                                       {"rmsnorm_spelled", "rmsnorm"},
                                       {"rmsnorm_script", "rmsnorm"},
                                       {"dyt_spelled", "dyt"}})
    expect(spelled, fused, variant_named(fused).norm(x, w));
  expect("batchnorm", "batch_norm()", batch_norm(x, w.weight, w.bias, eps));
  expect("batchnorm_inference", "batch_norm() with kept statistics",
         batch_norm(x, w.weight, w.bias, eps, w.kept_mean, w.kept_variance));
}

void publish_reductions(Run& run, const Variant& variant, const Work& work) {
  run.measured(fmt::format("reductions.{}", variant.name), work.reductions, variant.reductions);
  run.measured(fmt::format("ops.{}", variant.name), work.ops);
  run.expect(fmt::format("{} reductions", variant.name), work.reductions == variant.reductions,
             fmt::format("{} sums, {} wanted", work.reductions, variant.reductions));
}

}  // namespace

// --- all variants

// Backward, fused: x and dy read, dx written. Spelled out, in passes: adding a bias 1, multiplying by a
// weight or a column 6, dividing by a column 8, by a constant 2, squaring 4, var 3, subtracting a column 3,
// tanh 7, multiplying by alpha 6; adding to a gradient 3, a repeated column to a gradient 4.
//
// Kernels, per element: the squares take a subtraction of the mean, a product and a sum; the output a
// subtraction, a product with r, and one flop each for weight and bias; LayerNorm's mean takes a sum.
// RMSNorm's kernel is LayerNorm's, and subtracts a mean of zero. Per row: the mean's division, a division,
// four flops for the mean's rounding and eps, root and reciprocal; mean and r are kept as doubles. tanh
// counts as one flop; DyISRU takes two for x² + C, root and reciprocal, and two products.
const std::array<Variant, 13> variants = {{
    {"rmsnorm", fused_rms_norm, 2, 3, 1, {3 + 3, 7, 16}},
    {"layernorm_fused", fused_layer_norm, 2, 3, 2, {1 + 3 + 4, 8, 16}},
    {"layernorm_no_bias", fused_layer_norm_no_bias, 2, 3, 2, {1 + 3 + 3, 8, 16}},
    {"layernorm_var", layer_norm_var, 15, 1 + 6 + 8 + 3 + 4 + 3 + (3 + 4 + 4), 3},
    {"layernorm_squares", layer_norm_squares, 12, 1 + 6 + 8 + 4 + 3 + (3 + 4), 2},
    {"rmsnorm_spelled", rms_norm_spelled, 7, 6 + 8 + 4 + 3, 1},
    {"layernorm_script", layer_norm_script, 10, 1 + 8 + 6 + 3 + 3 + (3 + 4), 3},
    {"rmsnorm_script", rms_norm_script, 7, 6 + 6 + 4 + 3, 1},
    {"batchnorm", batch_norm_squares, 12, 1 + 6 + 8 + 4 + 3 + (3 + 4), 2},
    {"batchnorm_inference", batch_norm_kept, 8, 1 + 6 + 2, 0},
    {"dyt", fused_dyt, 2, 3, 0, {1 + 1 + 2}},
    {"dyt_spelled", dyt_spelled, 8, 1 + 6 + 7 + 6, 0},
    {"dyisru", fused_dyisru, 2, 3, 0, {2 + 2 + 2 + 2}},
}};

const Variant& variant_named(const std::string& name) {
  for (const Variant& variant : variants)
    if (variant.name == name) return variant;
  throw_error("norm_speed: there is no variant " + name);
}

Weights::Weights(int64_t columns)
    : weight(ones({columns})),
      bias(zeros({columns})),
      alpha(full({1}, 0.5)),
      log_c(ones({1})),
      kept_mean(zeros({columns})),
      kept_variance(ones({columns})) {
  for (Tensor* t : {&weight, &bias, &alpha, &log_c}) t->set_trainable();
}

void Weights::clear_grad() const {
  for (const Tensor* t : {&weight, &bias, &alpha, &log_c}) t->clear_grad();
}

Work work_of(const Variant& variant, const Tensor& x, const Weights& weights) {
  Tape tape;
  variant.norm(x, weights);
  const std::vector<const Node*> nodes = tape.nodes();
  Work work{.flops = 0, .bytes = 0, .reductions = 0, .ops = static_cast<int>(nodes.size())};
  for (const Node* node : nodes) {
    const std::string op = node->name;
    // var() takes two sums: of the elements, and of the squares of what is left of them.
    const int sums = op == "sum" ? 1 : op == "var" ? 2 : 0;
    int64_t numbers = node->shape.numel();
    for (const Node::Input& input : node->inputs)
      if (input.slot != Node::Input::absent) numbers += input.shape.numel();
    work.bytes += 4.0 * static_cast<double>(numbers);
    work.flops +=
        static_cast<double>(sums > 0 ? sums * sums * node->inputs[0].shape.numel() : node->shape.numel());
    work.reductions += sums;
  }
  if (variant.spelled_out()) return work;
  const auto rows = static_cast<double>(x.size(0));
  work.flops = variant.kernel.flops * static_cast<double>(x.numel()) + variant.kernel.flops_of_row * rows;
  work.bytes += variant.kernel.bytes_of_row * rows;
  return work;
}

void check_variants(Run& run) {
  const Rng rng(static_cast<uint64_t>(run.seed()));
  const Tensor x = rng.split("x").normal({counted_rows, counted_columns}).set_trainable();
  const Weights weights(counted_columns);
  expect_equal_results(run, x, weights);
  const auto elements = static_cast<double>(x.numel());
  std::map<std::string, double> flops;
  for (const Variant& variant : variants) {
    const Work work = work_of(variant, x, weights);
    if (variant.spelled_out()) publish_reductions(run, variant, work);
    run.measured(fmt::format("flops.{}", variant.name), work.flops / elements);
    run.measured(fmt::format("bytes.{}", variant.name), work.bytes / elements, 4.0 * variant.forward_passes);
    flops[variant.name] = work.flops;
  }
  for (const char* batch_norm : {"batchnorm", "batchnorm_inference"})
    run.measured(fmt::format("flops.layernorm_squares_over_{}", batch_norm),
                 flops["layernorm_squares"] / flops[batch_norm]);
}

}  // namespace isobar::speed
