// Nets: the kinds of net that depth_trainability knows, and their names.
#pragma once

#include <string>
#include <vector>

#include "../../core/fields.h"

namespace isobar::depth {

// One kind of net, of any depth: how its layers are put together, their initial weights and their norm,
// each by the name that decay_study gives it.
struct Kind {
  std::string topology, init, norm;

  // "plain.default.none": its name on the command line and in measured keys.
  std::string key() const { return topology + "." + init + "." + norm; }
  bool operator==(const Kind&) const = default;
};

// "all", and the names of all kinds with any norm of norm_names(). Kinds that do not make sense have no name:
// post without a norm is pre without one; skipinit, rezero and fixup are meant to do without; fixup brings
// its own weights, He's scaled.
Choices kind_names();
// The kinds of these names; of "all" those that have none, layernorm, rmsnorm, dyt or dyisru.
std::vector<Kind> kinds_of(const std::vector<std::string>& names);

}  // namespace isobar::depth
