#include "norm.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "dyisru.h"
#include "dyt.h"
#include "dyt_sqrtd.h"
#include "identity.h"
#include "layer_norm.h"
#include "rms_norm.h"

namespace isobar {
namespace {

// Written by register_norm() before main(), only read afterwards.
std::map<std::string, NormMaker, std::less<>>& registered() {
  static std::map<std::string, NormMaker, std::less<>> makers;
  return makers;
}

Choices& all_names() {
  static Choices names{"none", "layernorm", "rmsnorm", "dyt", "dyt_sqrtd", "dyisru"};
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

std::unique_ptr<Module> make_norm(std::string_view name, const Shape& shape, const NormOptions& options) {
  const bool bias = options.bias;
  const std::optional<double>& alpha = options.alpha;
  if (name == "none") return std::make_unique<Identity>();
  if (name == "layernorm")
    return std::make_unique<LayerNorm>(shape, LayerNormOptions{.eps = options.eps, .bias = bias});
  if (name == "rmsnorm") return std::make_unique<RMSNorm>(shape, RMSNormOptions{.eps = options.eps});
  if (name == "dyt")
    return std::make_unique<DyT>(shape, DyTOptions{.alpha = alpha.value_or(0.5), .bias = bias});
  if (name == "dyt_sqrtd")
    return std::make_unique<DyTSqrtD>(shape, DyTSqrtDOptions{.inv_rho = alpha.value_or(1), .bias = bias});
  if (name == "dyisru") return std::make_unique<DyISRU>(shape, DyISRUOptions{.c = alpha, .bias = bias});
  if (const auto own = registered().find(name); own != registered().end()) return own->second(shape, options);
  throw_error(fmt::format("norm: wanted one of {}, got {}", fmt::join(norm_names(), ", "), name));
}

}  // namespace isobar
