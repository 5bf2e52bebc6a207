#include "norm.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "activation.h"
#include "batch_norm.h"
#include "center_norm.h"
#include "derf.h"
#include "dyisru.h"
#include "dyt.h"
#include "group_norm.h"
#include "layer_norm.h"
#include "rms_norm.h"
#include "std_norm.h"

namespace isobar {
namespace {

// Written by register_norm() before main(), only read afterwards.
std::map<std::string, NormMaker, std::less<>>& registered() {
  static std::map<std::string, NormMaker, std::less<>> makers;
  return makers;
}

Choices& all_names() {
  static Choices names{"none",       "layernorm", "rmsnorm", "prmsnorm",  "batchnorm", "groupnorm",
                       "centernorm", "stdnorm",   "dyt",     "dyt_sqrtd", "dyisru",    "derf"};
  return names;
}

}  // namespace

const Choices& norm_names() { return all_names(); }

bool register_norm(const std::string& name, NormMaker make) {
  check(!name.empty() && std::find(norm_names().begin(), norm_names().end(), name) == norm_names().end(),
        "register_norm: the name '{}' is taken; there are {}", name, fmt::join(norm_names(), ", "));
  registered()[name] = std::move(make);
  all_names().push_back(name);
  return true;
}

bool takes_alpha(std::string_view name) {
  return name.starts_with("dy") || name == "derf" || registered().contains(name);
}

std::unique_ptr<Module> make_norm(std::string_view name, const Shape& shape, const NormOptions& options) {
  const bool bias = options.bias;
  const std::optional<double>& alpha = options.alpha;
  if (name == "none") return std::make_unique<Identity>();
  if (name == "layernorm")
    return std::make_unique<LayerNorm>(shape, LayerNormOptions{.eps = options.eps, .bias = bias});
  if (name == "rmsnorm") return std::make_unique<RMSNorm>(shape, RMSNormOptions{.eps = options.eps});
  if (name == "prmsnorm") {
    const double least = 1 / static_cast<double>(std::max<int64_t>(shape.numel(), 1));  // one element
    return std::make_unique<PRMSNorm>(
        shape, PRMSNormOptions{.p = options.p.value_or(std::max(0.0625, least)), .eps = options.eps});
  }
  if (name == "batchnorm")
    return std::make_unique<RowBatchNorm>(shape, RowBatchNormOptions{.eps = options.eps, .bias = bias});
  if (name == "groupnorm")
    return std::make_unique<RowGroupNorm>(
        shape, RowGroupNormOptions{.eps = options.eps, .groups = options.groups, .bias = bias});
  if (name == "centernorm") return std::make_unique<CenterNorm>(shape);
  if (name == "stdnorm") return std::make_unique<StdNorm>(shape, StdNormOptions{.eps = options.eps});
  if (name == "dyt")
    return std::make_unique<DyT>(shape, DyTOptions{.alpha = alpha.value_or(0.5), .bias = bias});
  if (name == "dyt_sqrtd")
    return std::make_unique<DyTSqrtD>(shape, DyTSqrtDOptions{.inv_rho = alpha.value_or(1), .bias = bias});
  if (name == "dyisru") return std::make_unique<DyISRU>(shape, DyISRUOptions{.c = alpha, .bias = bias});
  if (name == "derf")
    return std::make_unique<Derf>(shape, DerfOptions{.alpha = alpha.value_or(0.5), .bias = bias});
  if (const auto own = registered().find(name); own != registered().end()) return own->second(shape, options);
  throw_error(fmt::format("norm: wanted one of {}, got {}", fmt::join(norm_names(), ", "), name));
}

}  // namespace isobar
