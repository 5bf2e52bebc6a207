// Placement: the position of the norm N in a residual block with branch f, or what stands in its place.
//
//   none            y = x + f(x)
//   pre             y = x + f(N(x))           the identity path is free of norms (Xiong et al. 2020)
//   post            y = N(x + f(x))           as in the first Transformer (Vaswani et al. 2017)
//   peri            y = x + N2(f(N1(x)))      a norm before and after the branch (Kim et al. 2025, Peri-LN)
//   residual_free   y = f(N(x))               no identity path
//   skipinit        y = x + a f(x)            a starts at 1/√(number of branches) (De & Smith 2020)
//   rezero          y = x + a f(x)            a starts at 0 (Bachlechner et al. 2021)
//   fixup           y = x + s f(x + b1) + b2  s starts at 1, f at 0 (Zhang, Dauphin & Ma 2019)
#pragma once

#include "../core/fields.h"

namespace isobar {

enum class Placement { none, pre, post, peri, residual_free, skipinit, rezero, fixup };

inline const Choices& placement_names() {  // in the order of the enum
  static const Choices names{"none", "pre", "post", "peri", "residual_free", "skipinit", "rezero", "fixup"};
  return names;
}

inline const std::string& placement_name(Placement placement) {
  return placement_names()[static_cast<size_t>(placement)];
}

// Throws Error for any other name.
inline Placement placement_from_name(std::string_view name) {
  const Choices& names = placement_names();
  const auto found = std::find(names.begin(), names.end(), name);
  check(found != names.end(),
        "placement: wanted none, pre, post, peri, residual_free, skipinit, rezero or fixup, got {}", name);
  return static_cast<Placement>(found - names.begin());
}

// Whether blocks of this placement have norms. The others were invented to do without.
constexpr bool has_norms(Placement placement) {
  return placement >= Placement::pre && placement <= Placement::residual_free;
}

}  // namespace isobar
