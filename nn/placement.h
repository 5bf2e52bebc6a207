// Placement: the position of the norm N in a residual block with branch f.
//
//   none   y = x + f(x)
//   pre    y = x + f(N(x))      the identity path is free of norms (Xiong et al. 2020)
//   post   y = N(x + f(x))      as in the first Transformer (Vaswani et al. 2017)
#pragma once

#include "../core/fields.h"

namespace isobar {

enum class Placement { none, pre, post };

// "none", "pre", "post".
inline const Choices& placement_names() {
  static const Choices names{"none", "pre", "post"};
  return names;
}

// Throws Error for any other name.
inline Placement placement_from_name(std::string_view name) {
  if (name == "none") return Placement::none;
  if (name == "pre") return Placement::pre;
  check(name == "post", "placement: wanted none, pre or post, got {}", name);
  return Placement::post;
}

}  // namespace isobar
