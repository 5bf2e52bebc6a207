// make_norm: a norm chosen by name at run time, for studies that compare them.
#pragma once

#include <functional>
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

// "none" (Identity), "layernorm", "rmsnorm", "dyt", "dyt_sqrtd", "dyisru", then those that were registered.
const Choices& norm_names();
// Throws Error, with the list of names, for any other.
std::unique_ptr<Module> make_norm(std::string_view name, const Shape& normalized_shape,
                                  const NormOptions& options = {});

// Gives a norm of a program's own a name, so that the studies know it (`decay_study --norm scalenorm`).
// Returns true: it is called before main() by the row
//   const bool registered = register_norm("scalenorm", [](const Shape&, const NormOptions&) {
//     return std::make_unique<ScaleNorm>();
//   });
// Throws Error for a name that is taken.
using NormMaker = std::function<std::unique_ptr<Module>(const Shape& normalized_shape, const NormOptions&)>;
bool register_norm(const std::string& name, NormMaker make);

}  // namespace isobar
