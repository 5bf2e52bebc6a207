#include "overlay.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <vector>

#include "../../core/error.h"
#include "../harness/nearest.h"

namespace isobar::report {
namespace {

struct Named {
  std::string run, program;
  const Json* plot;
};

// One plot of them all. A run with one measured curve lends it its name; printed values are left out.
Json overlaid(const std::vector<Named>& plots) {
  Json result = *plots.front().plot, curves = Json::array();
  result["title"] = fmt::format("{}: {}", plots.front().program, result["y"].get<std::string>());
  size_t first = 0;
  for (const auto& [run, program, plot] : plots) {
    const Json& own = (*plot)["curves"];
    const bool single =
        std::count_if(own.begin(), own.end(), [](const Json& c) { return c["role"] == "measured"; }) == 1;
    size_t number = 0;
    for (Json curve : own) {
      if (curve["role"] == "printed") continue;
      const std::string label = curve["label"];
      const bool by_run = single && (curve["role"] == "measured" || curve["role"] == label);
      curve["label"] = by_run ? run : run + ": " + label;
      curve["colour"] = first + (single ? 0 : number);
      ++number;
      curves.push_back(std::move(curve));
    }
    first += single ? 1 : number;
  }
  result["curves"] = std::move(curves);
  return result;
}

}  // namespace

Json plot_named(const Json& runs, const std::string& name) {
  std::vector<Named> found;
  std::vector<std::string> known;
  std::set<std::string> programs;
  for (const Json& run : runs)
    for (const Json& plot : run.at("plots")) {
      const std::string key = plot.at("key"), full = run.at("name").get<std::string>() + "." + key;
      if (full == name) return plot;
      known.push_back(full);
      if (key != name) continue;
      found.push_back({run.at("name"), run.at("program"), &plot});
      programs.insert(run.at("program"));
    }
  check(!found.empty(), "--svg: wanted one of {}, got '{}'{}", fmt::join(known, ", "), name,
        did_you_mean(name, known));
  check(programs.size() == 1, "--svg: {} have a plot '{}'; name the run before it, with a dot: {}.{}",
        fmt::join(programs, " and "), name, found.front().run, name);
  return found.size() == 1 ? *found.front().plot : overlaid(found);
}

}  // namespace isobar::report
