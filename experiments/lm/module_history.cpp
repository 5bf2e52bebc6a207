#include "module_history.h"

#include <algorithm>

namespace isobar {

std::vector<ModuleHistory> module_histories(const Hdf5File& file) {
  std::vector<ModuleHistory> all;
  for (const char* name :
       {"/modules", "/module_types", "/series/module_std", "/series/module_mean", "/series/module_grad_norm"})
    if (!file.has(name)) return all;
  const std::vector<std::string> paths = file.read_strings("/modules"),
                                 types = file.read_strings("/module_types");
  if (types.size() != paths.size()) return all;
  const std::vector<double> std = file.read("/series/module_std").to_vector<double>(),
                            mean = file.read("/series/module_mean").to_vector<double>(),
                            gradient = file.read("/series/module_grad_norm").to_vector<double>();
  // Of a file that grows the last row may be in some of them only.
  const size_t numbers = std::min({std.size(), mean.size(), gradient.size()});
  for (size_t i = 0; i < paths.size(); ++i) {
    ModuleHistory& module = all.emplace_back(ModuleHistory{paths[i], types[i], {}, {}, {}});
    for (size_t at = i; at < numbers; at += paths.size()) {
      module.std.push_back(std[at]);
      module.mean.push_back(mean[at]);
      module.gradient.push_back(gradient[at]);
    }
  }
  return numbers < paths.size() ? std::vector<ModuleHistory>() : all;
}

int64_t depth_of(const std::string& path) { return std::count(path.begin(), path.end(), '.'); }

bool on_the_stream(const std::string& path, const std::string& type) {
  return type == "TransformerBlock" || depth_of(path) == 0;
}

}  // namespace isobar
