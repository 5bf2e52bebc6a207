#include "work.h"

#include <cmath>
#include <map>
#include <string>

#include "../../autograd/autograd.h"

namespace isobar::speed {
namespace {

constexpr int64_t counted_rows = 1000, counted_columns = 512;

void expect_equal(Run& run, const char* a_name, const Tensor& a, const char* b_name, const Tensor& b) {
  const double most = std::sqrt(max(square(a - b)).item());
  // f32, of outputs up to 5: each op rounds by 6e-8 relative.
  run.expect(fmt::format("{} equals {}", a_name, b_name), most < 5e-6,
             fmt::format("largest |a − b| {}", most));
}

void expect_equal_results(Run& run, const Tensor& x, const Weights& weights) {
  for (const auto& [spelled, fused] : {std::pair{"layernorm_var", "layernorm_fused"},
                                       {"layernorm_squares", "layernorm_fused"},
                                       {"layernorm_script", "layernorm_fused"},
                                       {"rmsnorm_spelled", "rmsnorm"},
                                       {"rmsnorm_script", "rmsnorm"},
                                       {"dyt_spelled", "dyt"}}) {
    expect_equal(run, spelled, variant_named(spelled).norm(x, weights), fused,
                 variant_named(fused).norm(x, weights));
  }
  expect_equal(run, "batchnorm", batch_norm_squares(x, weights), "batch_norm()",
               batch_norm(x, weights.weight, weights.bias, eps));
  expect_equal(run, "batchnorm_inference", batch_norm_kept(x, weights), "batch_norm() with kept statistics",
               batch_norm(x, weights.weight, weights.bias, eps, weights.kept_mean, weights.kept_variance));
}

void publish_reductions(Run& run, const Variant& variant, const Work& work) {
  run.measured(fmt::format("reductions.{}", variant.name), work.reductions, variant.reductions);
  run.measured(fmt::format("ops.{}", variant.name), work.ops);
  run.expect(fmt::format("{} reductions", variant.name), work.reductions == variant.reductions,
             fmt::format("{} sums, {} wanted", work.reductions, variant.reductions));
}

}  // namespace

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
