#include "nets.h"

#include "../../nn/norm.h"

namespace isobar::depth {
namespace {

bool makes_sense(const Kind& kind) {
  const bool normless = kind.topology == "skipinit" || kind.topology == "rezero" || kind.topology == "fixup";
  if (normless && kind.norm != "none") return false;
  if (kind.topology == "post" && kind.norm == "none") return false;
  return kind.topology != "fixup" || kind.init == "he_normal";
}

std::vector<Kind> kinds_with(const Choices& norms) {
  std::vector<Kind> kinds;
  for (const char* topology : {"plain", "pre", "post", "skipinit", "rezero", "fixup"})
    for (const char* init : {"default", "he_normal", "orthogonal_sqrt2"})
      for (const std::string& norm : norms)
        if (const Kind kind{topology, init, norm}; makes_sense(kind)) kinds.push_back(kind);
  return kinds;
}

}  // namespace

Choices kind_names() {
  Choices names = {"all"};
  for (const Kind& kind : kinds_with(norm_names())) names.push_back(kind.key());
  return names;
}

std::vector<Kind> kinds_of(const std::vector<std::string>& names) {
  if (names.front() == "all") return kinds_with({"none", "layernorm", "rmsnorm", "dyt", "dyisru"});
  std::vector<Kind> kinds;
  for (const std::string& name : names)
    for (const Kind& kind : kinds_with(norm_names()))
      if (kind.key() == name) kinds.push_back(kind);
  return kinds;
}

}  // namespace isobar::depth
