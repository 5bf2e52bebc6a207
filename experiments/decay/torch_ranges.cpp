#include "torch_ranges.h"

#include <array>
#include <span>

#include "../harness/table.h"

namespace isobar::decay {
namespace {

// [min, max] of a layer.
struct TorchRow {
  Range std, weight_gradient_norm;
};

constexpr std::array<TorchRow, 8> blog8_rows = {{
    {{0.3323, 0.3465}, {3.25, 4.94}},
    {{0.1313, 0.1440}, {6.11, 9.41}},
    {{0.0544, 0.0625}, {8.4, 14.0}},
    {{0.0261, 0.0300}, {11.9, 18.9}},
    {{0.0176, 0.0196}, {17.7, 25.9}},
    {{0.0153, 0.0176}, {36.3, 48.8}},
    {{0.0151, 0.0170}, {83.7, 111}},
    {{0.0148, 0.0167}, {213, 247}},
}};

constexpr std::array<TorchRow, 8> blog8_rmsnorm_rows = {{
    {{0.5739, 0.5911}, {2507, 3522}},
    {{0.5626, 0.6016}, {3477, 4918}},
    {{0.5608, 0.6122}, {4393, 6671}},
    {{0.5611, 0.6048}, {5767, 8450}},
    {{0.5539, 0.6018}, {7337, 9939}},
    {{0.5552, 0.6212}, {8806, 11620}},
    {{0.5605, 0.6053}, {10360, 14270}},
    {{0.5470, 0.6218}, {12690, 13820}},
}};
// The std of the second net between RMSNorm and ReLU, rounded to four decimals.
constexpr std::array<Range, 8> before_relu = {{
    {0.9998, 1.0000},
    {0.9978, 1.0000},
    {0.9970, 1.0000},
    {0.9975, 1.0000},
    {0.9974, 1.0000},
    {0.9957, 1.0000},
    {0.9982, 1.0000},
    {0.9966, 1.0000},
}};
constexpr double before_relu_rounding = 0.00005;

void expect_in(Run& run, const std::string& name, double median, const Range& range) {
  run.expect(name, range.contains(median),
             fmt::format("median {} must lie in {}, PyTorch's range over 20 seeds", number_text(median),
                         fmt::format("[{}, {}]", number_text(range.low), number_text(range.high))));
}

void expect_medians(Run& run, const std::vector<Signals>& runs, std::span<const TorchRow> rows) {
  for (size_t i = 0; i < rows.size(); ++i) {
    expect_in(run, fmt::format("std.output of layer {}", i + 1),
              layer_spread(runs, i, &LayerSignal::output_std).median, rows[i].std);
    expect_in(run, fmt::format("grad_norm.weight of layer {}", i + 1),
              layer_spread(runs, i, &LayerSignal::weight_gradient_norm).median, rows[i].weight_gradient_norm);
  }
}

}  // namespace

void expect_blog8(Run& run, const std::vector<Signals>& runs) { expect_medians(run, runs, blog8_rows); }

void expect_blog8_rmsnorm(Run& run, const std::vector<Signals>& runs) {
  expect_medians(run, runs, blog8_rmsnorm_rows);
  for (size_t i = 0; i < before_relu.size(); ++i) {
    const auto [low, high] = before_relu[i];
    expect_in(run, fmt::format("std.norm of layer {}", i + 1),
              layer_spread(runs, i, &LayerSignal::norm_std).median,
              {low - before_relu_rounding, high + before_relu_rounding});
  }
}

}  // namespace isobar::decay
