// make_norm: a norm chosen by name at run time, for studies that compare them. Placement: its position.
#pragma once

#include <functional>
#include <optional>

#include "module.h"

namespace isobar {

// Options of make_norm().
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

// Returns the names of all norms: "none" (Identity), "layernorm", … (the table in norm.cpp), then the
// registered ones. They are values of command lines, hence in lower case. All norms take x (…,
// normalized_shape). Only batchnorm differs between training and evaluation.
const Choices& norm_names();
// Makes the norm of this name. Throws Error, with the list of names, for any other name.
std::unique_ptr<Module> make_norm(std::string_view name, const Shape& normalized_shape,
                                  const NormOptions& options = {});
// Whether the norm of this name may read NormOptions::alpha; true for every registered norm.
bool takes_alpha(std::string_view name);

// A function that makes a norm, for register_norm().
using NormMaker = std::function<std::unique_ptr<Module>(const Shape& normalized_shape, const NormOptions&)>;
// Registers a norm of the program under a name, for the studies (`decay_study --norm scalenorm`). It returns
// true, so that the initializer of a variable can call it before main():
//
//   const bool registered = register_norm("scalenorm", [](const Shape&, const NormOptions&) {
//     return std::make_unique<ScaleNorm>();
//   });
//
// Throws Error for an empty name, and for a name that exists.
bool register_norm(const std::string& name, NormMaker make);

// Placement: the position of the norm N in a residual block with branch f, or what replaces it.
//
//   none            y = x + f(x)
//   pre             y = x + f(N(x))           the identity path is free of norms (Xiong et al. 2020)
//   post            y = N(x + f(x))           as in the first Transformer (Vaswani et al. 2017)
//   peri            y = x + N2(f(N1(x)))      a norm before and after the branch (Kim et al. 2025, Peri-LN)
//   residual_free   y = f(N(x))               no identity path
//   skipinit        y = x + a f(x)            a starts at 1/√(number of branches) (De & Smith 2020)
//   rezero          y = x + a f(x)            a starts at 0 (Bachlechner et al. 2021)
//   fixup           y = x + s f(x + b1) + b2  s starts at 1, f at 0 (Zhang, Dauphin & Ma 2019)
//
// LanguageModel sets the a of skipinit and the f of fixup so. In a TransformerBlock of your own, you set them.
enum class Placement { none, pre, post, peri, residual_free, skipinit, rezero, fixup };

// Returns the names of all placements, in the order of the enum.
inline const Choices& placement_names() {
  static const Choices names{"none", "pre", "post", "peri", "residual_free", "skipinit", "rezero", "fixup"};
  return names;
}

// Returns the name of a placement, such as "pre".
inline const std::string& placement_name(Placement placement) {
  return placement_names()[static_cast<size_t>(placement)];
}

// Returns the placement of this name. Throws Error for any other name.
inline Placement placement_from_name(std::string_view name) {
  const Choices& names = placement_names();
  const auto found = std::find(names.begin(), names.end(), name);
  check(found != names.end(),
        "placement: wanted none, pre, post, peri, residual_free, skipinit, rezero or fixup, got {}", name);
  return static_cast<Placement>(found - names.begin());
}

// Whether blocks of this placement have norms.
constexpr bool has_norms(Placement placement) {
  return placement >= Placement::pre && placement <= Placement::residual_free;
}

}  // namespace isobar
