#include "work.h"

#include <cmath>
#include <string>

#include "../../autograd/autograd.h"

namespace isobar::speed {
namespace {

constexpr int64_t counted_rows = 1000, counted_columns = 512;

void expect_equal_results(Run& run, const Tensor& x, const Weights& weights) {
  for (const auto& [spelled, fused] : {std::pair{"layernorm_var", "layernorm_fused"},
                                       {"layernorm_squares", "layernorm_fused"},
                                       {"rmsnorm_spelled", "rmsnorm"},
                                       {"dyt_spelled", "dyt"}}) {
    const Tensor difference = variant_named(spelled).norm(x, weights) - variant_named(fused).norm(x, weights);
    const double most = std::sqrt(max(square(difference)).item());
    // f32, of outputs up to 5: each op rounds by 6e-8 relative.
    run.expect(fmt::format("{} equals {}", spelled, fused), most < 5e-6,
               fmt::format("largest |a − b| {}", most));
  }
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
    const bool sums = std::string(node->name) == "sum";
    int64_t numbers = node->shape.numel();
    for (const Node::Input& input : node->inputs)
      if (input.slot != Node::Input::absent) numbers += input.shape.numel();
    work.bytes += 4.0 * static_cast<double>(numbers);
    work.flops += static_cast<double>(sums ? node->inputs[0].shape.numel() : node->shape.numel());
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
  for (const Variant& variant : variants) {
    const Work work = work_of(variant, x, weights);
    if (variant.spelled_out()) publish_reductions(run, variant, work);
    run.measured(fmt::format("flops.{}", variant.name), work.flops / elements);
    run.measured(fmt::format("bytes.{}", variant.name), work.bytes / elements, 4.0 * variant.forward_passes);
  }
}

}  // namespace isobar::speed
