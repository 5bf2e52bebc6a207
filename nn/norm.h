// make_norm: a norm chosen by name at run time, for studies that compare them.
#pragma once

#include <memory>
#include <optional>

#include "module.h"

namespace isobar {

struct NormOptions {
  double eps = 1e-5;  // layernorm, rmsnorm
  bool bias = true;   // layernorm, dyt, dyt_sqrtd, dyisru
  // Initial value of DyT's alpha (default 0.5), DyTSqrtD's 1/ρ (1), DyISRU's C (the width).
  std::optional<double> alpha = std::nullopt;
};

// "none" (Identity), "layernorm", "rmsnorm", "dyt", "dyt_sqrtd", "dyisru".
const Choices& norm_names();
// Throws Error, with the list of names, for any other.
std::unique_ptr<Module> make_norm(std::string_view name, const Shape& normalized_shape,
                                  const NormOptions& options = {});

}  // namespace isobar
