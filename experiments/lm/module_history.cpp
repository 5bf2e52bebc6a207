#include "module_history.h"

#include <algorithm>
#include <cmath>

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
  const auto shares = [&](const std::string& name) {
    return file.has("/series/" + name) ? file.read("/series/" + name).to_vector<double>()
                                       : std::vector<double>();
  };
  const std::vector<double> zeros = shares("module_zeros"), saturated = shares("module_saturated");
  const auto value_or_nan = [](const std::vector<double>& values, size_t at) {
    return at < values.size() ? values[at] : std::nan("");
  };
  // Of a file that grows the last row may be in some of them only.
  const size_t numbers = std::min({std.size(), mean.size(), gradient.size()});
  for (size_t i = 0; i < paths.size(); ++i) {
    ModuleHistory& module = all.emplace_back(ModuleHistory{paths[i], types[i], {}, {}, {}, {}, {}});
    for (size_t at = i; at < numbers; at += paths.size()) {
      module.std.push_back(std[at]);
      module.mean.push_back(mean[at]);
      module.gradient.push_back(gradient[at]);
      module.zeros.push_back(value_or_nan(zeros, at));
      module.saturated.push_back(value_or_nan(saturated, at));
    }
  }
  return numbers < paths.size() ? std::vector<ModuleHistory>() : all;
}

int64_t depth_of(const std::string& path) { return std::count(path.begin(), path.end(), '.'); }

bool on_the_stream(const std::string& path, const std::string& type) {
  return type == "TransformerBlock" || depth_of(path) == 0;
}

}  // namespace isobar
