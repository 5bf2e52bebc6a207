#include "verdict.h"

#include <cmath>
#include <limits>
#include <span>

#include "../harness/table.h"

namespace isobar::decay {
namespace {

std::string range_text(const Range& range) {
  return fmt::format("[{}, {}]", figure(range.low), figure(range.high));
}

std::string reason_text(double printed, const Spread& seeds) {
  const Range range = prediction_interval(seeds, 0.01, seeds.min > 0);
  if (range.contains(printed)) return fmt::format("within {}", range_text(range));
  return fmt::format("outside {}: {} times the median", range_text(range), figure(printed / seeds.median));
}

void expect_in(Run& run, const std::string& name, double median, const Range& range) {
  run.expect(name, range.contains(median),
             fmt::format("median {} must lie in {}, PyTorch's range over 20 seeds", figure(median),
                         range_text(range)));
}

void expect_medians(Run& run, const std::vector<Signals>& runs, std::span<const SourceRow> rows) {
  for (size_t i = 0; i < rows.size(); ++i) {
    expect_in(run, fmt::format("std.output of layer {}", i + 1),
              layer_spread(runs, i, &LayerSignal::output_std).median, rows[i].torch_std);
    expect_in(run, fmt::format("grad_norm.weight of layer {}", i + 1),
              layer_spread(runs, i, &LayerSignal::weight_gradient_norm).median,
              rows[i].torch_weight_gradient_norm);
  }
}

}  // namespace

Judgement judge(double printed, const Spread& seeds) {
  return prediction_interval(seeds, 0.01, seeds.min > 0).contains(printed) ? Judgement::confirmed : Judgement::refuted;
}

void judge_figure(Run& run, const std::string& id, const std::string& claim, double printed,
                  const Spread& seeds, double theory) {
  run.verdict({.id = id,
               .claim = claim,
               .printed = printed,
               .measured = to_json(seeds),
               .theory = number_or_null(theory),
               .verdict = judge(printed, seeds),
               .reason = reason_text(printed, seeds)});
}

PrintedColumns printed_columns(const std::string& preset) {
  PrintedColumns columns;
  constexpr double nothing = std::numeric_limits<double>::quiet_NaN();
  for (const SourceRow& row : preset == "blog8" ? blog8_rows : blog8_rmsnorm_rows) {
    columns.std.push_back(row.std);
    columns.weight_gradient_norm.push_back(row.weight_gradient_norm.value_or(nothing));
  }
  return columns;
}

void judge_blog8(Run& run, const std::vector<Signals>& runs, const std::vector<LayerTheory>& theory) {
  for (size_t i = 0; i < blog8_rows.size(); ++i)
    judge_figure(run, fmt::format("D01.layer{}", i + 1), fmt::format("std after layer {}", i + 1),
                 blog8_rows[i].std, layer_spread(runs, i, &LayerSignal::output_std),
                 theory[i].output_std.median);
  for (size_t i = 0; i < blog8_rows.size(); ++i)
    if (blog8_rows[i].weight_gradient_norm)
      judge_figure(run, fmt::format("D06.layer{}", i + 1), fmt::format("gradient norm of layer {}", i + 1),
                   *blog8_rows[i].weight_gradient_norm,
                   layer_spread(runs, i, &LayerSignal::weight_gradient_norm),
                   theory[i].weight_gradient_norm.median);
}

void judge_blog8_rmsnorm(Run& run, const std::vector<Signals>& runs, const std::vector<LayerTheory>& theory) {
  for (size_t i = 0; i < blog8_rmsnorm_rows.size(); ++i) {
    const double printed = blog8_rmsnorm_rows[i].std;
    const Spread seeds = layer_spread(runs, i, &LayerSignal::output_std);
    // The figure is judged where the source's code takes it. Might it belong before the ReLU?
    const Spread before = layer_spread(runs, i, &LayerSignal::norm_std);
    run.verdict({.id = fmt::format("D12.layer{}", i + 1),
                 .claim = fmt::format("std after block {}", i + 1),
                 .printed = printed,
                 .measured = to_json(seeds),
                 .theory = number_or_null(theory[i].output_std.median),
                 .verdict = judge(printed, seeds),
                 .reason = fmt::format("{}; before the ReLU {}", reason_text(printed, seeds),
                                       reason_text(printed, before))});
  }
}

void expect_blog8(Run& run, const std::vector<Signals>& runs) { expect_medians(run, runs, blog8_rows); }

void expect_blog8_rmsnorm(Run& run, const std::vector<Signals>& runs) {
  expect_medians(run, runs, blog8_rmsnorm_rows);
  for (size_t i = 0; i < blog8_rmsnorm_before_relu.size(); ++i) {
    const auto [low, high] = blog8_rmsnorm_before_relu[i];
    expect_in(run, fmt::format("std.norm of layer {}", i + 1),
              layer_spread(runs, i, &LayerSignal::norm_std).median,
              {low - before_relu_rounding, high + before_relu_rounding});
  }
}

}  // namespace isobar::decay
