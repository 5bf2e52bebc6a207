// Nets: the kinds of net that depth_trainability knows, and their names.
#pragma once

#include <string>
#include <vector>

namespace isobar::depth {

// One kind of net, of any depth: how its layers are put together, their initial weights and their norm,
// each by the name that decay_study gives it.
struct Kind {
  std::string topology, init, norm;

  // "plain.default.none": its name on the command line and in measured keys.
  std::string key() const { return topology + "." + init + "." + norm; }
  bool operator==(const Kind&) const = default;
};

// The kinds of a list such as "plain.default.none,pre.default.rmsnorm", with any norm of norm_names(); or "all",
// which has none, layernorm, rmsnorm, dyt and dyisru. Throws Error for a name that is none, with the nearest one,
// and for a name that occurs twice. Kinds that do not make sense have no name: post without a norm is pre without
// one; skipinit, rezero and fixup are meant to do without; fixup brings its own weights, He's scaled.
std::vector<Kind> kinds_of(const std::string& list);

}  // namespace isobar::depth
