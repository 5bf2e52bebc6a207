#include "nets.h"

#include <algorithm>

#include "../../core/error.h"
#include "../../nn/norm.h"
#include "../harness/lists.h"
#include "../harness/nearest.h"

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

std::vector<Kind> kinds_of(const std::string& list) {
  if (list == "all") return kinds_with({"none", "layernorm", "rmsnorm", "dyt", "dyisru"});
  const std::vector<Kind> all = kinds_with(norm_names());
  std::vector<std::string> names;
  for (const Kind& kind : all) names.push_back(kind.key());

  std::vector<Kind> kinds;
  for (const std::string& word : words_of(list)) {
    const auto name = std::find(names.begin(), names.end(), word);
    check(
        name != names.end(),
        "--nets: wanted all, or a list of names such as plain.default.none (topology.init.norm), got '{}'{}",
        word, did_you_mean(word, names));
    const Kind& kind = all[static_cast<size_t>(name - names.begin())];
    check(std::find(kinds.begin(), kinds.end(), kind) == kinds.end(), "--nets: '{}' is listed twice", word);
    kinds.push_back(kind);
  }
  check(!kinds.empty(), "--nets: wanted all, or a list of names such as plain.default.none");
  return kinds;
}

}  // namespace isobar::depth
