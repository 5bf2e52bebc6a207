#include "reference.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include "../../core/error.h"
#include "../harness/json.h"
#include "../harness/stats.h"

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
  config.topology = line.at("topology").get<std::string>();
  config.depth = line.at("depth").get<int64_t>();
  config.width = line.at("width").get<int64_t>();
  config.batch = line.at("batch").get<int64_t>();
  config.norm = line.at("norm").get<std::string>();
  config.loss = line.at("loss").get<std::string>();
  config.dtype = line.at("dtype").get<std::string>();
  config.seeds = line.at("seeds").get<int64_t>();
  // Fixup's own initial weights, He's, are not a choice here.
  if (config.topology != "fixup") config.init = line.at("init").get<std::string>();
  config.check_together();
  reference.output_std = cells_of(line.at("std"));
  reference.weight_gradient_norm = cells_of(line.at("weight_grad_norm"));
  return reference;
}

double share(int64_t count, int64_t of) { return static_cast<double>(count) / static_cast<double>(of); }

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

}  // namespace isobar::decay
