// make_norm: a norm chosen by name at run time, for studies that compare them.
#pragma once

#include <functional>
#include <optional>

#include "module.h"

namespace isobar {

struct NormOptions {
  double eps = 1e-5;  // all but the elementwise ones and centernorm
  bool bias = true;   // layernorm, batchnorm, groupnorm, dyt, dyt_sqrtd, dyisru, derf
  // Initial value of DyT's alpha (default 0.5), DyTSqrtD's 1/ρ (1), DyISRU's C (the number of elements),
  // Derf's alpha (0.5), and what a registered norm makes of it.
  std::optional<double> alpha = std::nullopt;
  int64_t groups = 0;  // groupnorm; 0: the greatest common divisor of 4 and the number of elements
  // Fraction of the elements that prmsnorm measures; nullopt: the paper's 0.0625, but at least one element.
  std::optional<double> p = std::nullopt;
};

// "none" (Identity), "layernorm", … (the table in norm.cpp), then the registered names. All take x (…,
// normalized_shape); batchnorm alone differs between training and evaluation.
const Choices& norm_names();
// The norm of that name. Throws Error, with the list of names, for any other name.
std::unique_ptr<Module> make_norm(std::string_view name, const Shape& normalized_shape,
                                  const NormOptions& options = {});
// Whether the norm of that name may read NormOptions::alpha, as every registered one may.
bool takes_alpha(std::string_view name);

// Registers a program's own norm under a name, for the studies (`decay_study --norm scalenorm`). It returns
// true, so that the initializer of a namespace-scope variable can call it before main():
//   const bool registered = register_norm("scalenorm", [](const Shape&, const NormOptions&) {
//     return std::make_unique<ScaleNorm>();
//   });
// Throws Error for an empty name or one that is taken.
using NormMaker = std::function<std::unique_ptr<Module>(const Shape& normalized_shape, const NormOptions&)>;
bool register_norm(const std::string& name, NormMaker make);

}  // namespace isobar
