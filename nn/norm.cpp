#include "norm.h"

#include <fmt/ranges.h>

#include "dyisru.h"
#include "dyt.h"
#include "dyt_sqrtd.h"
#include "identity.h"
#include "layer_norm.h"
#include "rms_norm.h"

namespace isobar {

const Choices& norm_names() {
  static const Choices names{"none", "layernorm", "rmsnorm", "dyt", "dyt_sqrtd", "dyisru"};
  return names;
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
  throw_error(fmt::format("norm: wanted one of {}, got {}", fmt::join(norm_names(), ", "), name));
}

}  // namespace isobar
