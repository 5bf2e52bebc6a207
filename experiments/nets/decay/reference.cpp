#include "reference.h"

#include <numbers>

#include "../../run/settings.h"
#include "../../run/table.h"

namespace isobar::fixtures {
extern const char reference_depth[];  // made from fixtures/reference_depth.jsonl by CMake
}

namespace isobar::decay {
namespace {

std::vector<ReferenceCell> cells_of(const Json& layers) {
  std::vector<ReferenceCell> cells;
  for (const auto& [layer, cell] : layers.items())
    cells.push_back({.layer = std::stoll(layer),
                     .median = cell.at("median").get<double>(),
                     .log10_sd = cell.at("log10_sd").is_null() ? 0 : cell.at("log10_sd").get<double>(),
                     .zeros = cell.at("zeros").get<int64_t>(),
                     .nonfinite = cell.at("nonfinite").get<int64_t>()});
  return cells;
}

Reference reference_of(const Json& line) {
  Reference reference;
  Config& config = reference.config;
  for (const char* name : {"depth", "width", "batch", "seeds"})
    set_setting(config, name, line.at(name).get<int64_t>(), "reference");
  for (const char* name : {"topology", "init", "norm", "loss", "dtype"})
    // Fixup's own initial weights, He's, are not a choice here.
    if (name != std::string("init") || config.topology != "fixup")
      set_setting(config, name, line.at(name).get<std::string>(), "reference");
  config.check_together();
  reference.output_std = cells_of(line.at("std"));
  reference.weight_gradient_norm = cells_of(line.at("weight_grad_norm"));
  return reference;
}

double share(int64_t count, int64_t of) { return static_cast<double>(count) / static_cast<double>(of); }

// Of the logarithms of the positive finite values; 0 for fewer than two.
double log_sd(std::span<const double> values) {
  std::vector<double> logs;
  for (const double value : values)
    if (value > 0 && std::isfinite(value)) logs.push_back(std::log(value));
  const auto count = static_cast<double>(logs.size());
  double sum = 0, squares = 0;
  for (const double log : logs) sum += log;
  for (const double log : logs) squares += (log - sum / count) * (log - sum / count);
  return logs.size() < 2 ? 0 : std::sqrt(squares / (count - 1));
}

// [min, max] of a layer; `before_relu` is the std between RMSNorm and ReLU, rounded to four decimals.
struct TorchRow {
  Range std, weight_gradient_norm, before_relu = {};
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
    {{0.5739, 0.5911}, {2507, 3522}, {0.9998, 1.0000}},
    {{0.5626, 0.6016}, {3477, 4918}, {0.9978, 1.0000}},
    {{0.5608, 0.6122}, {4393, 6671}, {0.9970, 1.0000}},
    {{0.5611, 0.6048}, {5767, 8450}, {0.9975, 1.0000}},
    {{0.5539, 0.6018}, {7337, 9939}, {0.9974, 1.0000}},
    {{0.5552, 0.6212}, {8806, 11620}, {0.9957, 1.0000}},
    {{0.5605, 0.6053}, {10360, 14270}, {0.9982, 1.0000}},
    {{0.5470, 0.6218}, {12690, 13820}, {0.9966, 1.0000}},
}};
constexpr double before_relu_rounding = 0.00005;

}  // namespace

std::vector<Reference> depth_reference() {
  std::vector<Reference> references;
  for (std::string_view rest = fixtures::reference_depth; !rest.empty();) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (!line.empty()) references.push_back(reference_of(Json::parse(line)));
  }
  return references;
}

Comparison compare(const ReferenceCell& reference, int64_t reference_seeds, std::span<const double> ours) {
  const auto our_seeds = static_cast<int64_t>(ours.size());
  const Spread spread = spread_of(ours);
  Comparison result{.median = spread.median,
                    .zeros = std::count(ours.begin(), ours.end(), 0.0),
                    .nonfinite = spread.nonfinite,
                    .log10_ratio = std::numeric_limits<double>::quiet_NaN(),
                    .tolerance = std::numeric_limits<double>::quiet_NaN(),
                    .agrees = true};
  constexpr double most = 3.0 / 20;
  result.agrees =
      std::abs(share(result.zeros, our_seeds) - share(reference.zeros, reference_seeds)) <= most &&
      std::abs(share(result.nonfinite, our_seeds) - share(reference.nonfinite, reference_seeds)) <= most;
  if (result.median > 0 && reference.median > 0) {
    const double both_seeds = 1 / static_cast<double>(reference_seeds) + 1 / static_cast<double>(our_seeds);
    result.log10_ratio = std::log10(result.median / reference.median);
    result.tolerance =
        std::max(0.03, 1.6 * reference.log10_sd * std::sqrt(both_seeds / 0.1));  // 0.1: 20 seeds each
    result.agrees &= std::abs(result.log10_ratio) <= result.tolerance;
  } else {
    result.agrees &= result.median == reference.median;  // both 0
  }
  return result;
}

Agreement agreement_of(const Prediction& theory, std::span<const double> values) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  const Spread spread = spread_of(values);
  if (2 * spread.nonfinite >= std::ssize(values))
    return {none, theory.median > std::numeric_limits<float>::max()};
  if (spread.median == 0) return {none, theory.median < std::numeric_limits<float>::min()};

  constexpr double rounding = 1e-5;  // of f32 and eps, where all nets have one value
  return agreement_of(theory, spread.median, log_sd(values), std::ssize(values), rounding);
}

Agreement agreement_of(const Prediction& theory, double median, double sd, int64_t seeds, double rounding) {
  const double error =
      std::sqrt(std::numbers::pi / 2) * std::fmax(sd, theory.log_sd) / std::sqrt(static_cast<double>(seeds)) +
      rounding;
  const double z = std::log(median / theory.median) / error;
  return {z, std::abs(z) <= 3};
}

void Agreements::add(const Agreement& agreement, const std::string& name) {
  ++(std::isnan(agreement.z) ? out_of_range : with_z);
  if (!agreement.agrees) ++disagreeing;
  if (std::abs(agreement.z) > largest_z) {
    largest_z = std::abs(agreement.z);
    where = name;
  }
}

void expect_blog8(Run& run, const std::vector<Signals>& runs, bool rmsnorm) {
  const auto expect_in = [&](const char* name, size_t layer, double LayerSignal::*value, const Range& range) {
    const double median = layer_spread(runs, layer, value).median;
    run.expect(fmt::format("{} of layer {}", name, layer + 1), range.contains(median),
               fmt::format("median {} must lie in [{}, {}], PyTorch's range over 20 seeds",
                           number_text(median), number_text(range.low), number_text(range.high)));
  };
  const std::array<TorchRow, 8>& rows = rmsnorm ? blog8_rmsnorm_rows : blog8_rows;
  for (size_t i = 0; i < rows.size(); ++i) {
    expect_in("std.output", i, &LayerSignal::output_std, rows[i].std);
    expect_in("grad_norm.weight", i, &LayerSignal::weight_gradient_norm, rows[i].weight_gradient_norm);
  }
  for (size_t i = 0; rmsnorm && i < rows.size(); ++i) {
    const auto [low, high] = rows[i].before_relu;
    expect_in("std.norm", i, &LayerSignal::norm_std,
              {low - before_relu_rounding, high + before_relu_rounding});
  }
}

}  // namespace isobar::decay
