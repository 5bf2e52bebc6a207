#include "overlay.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <vector>

#include "../../core/error.h"
#include "../harness/nearest.h"

namespace isobar::report {
Plot overlaid(const std::vector<Named>& plots) {
  Plot all = plot_of(*plots.front().plot);
  all.title = plots.front().program + ": " + all.y;
  all.curves.clear();
  int first = 0;
  for (const auto& [run, program, plot] : plots) {
    std::vector<PlotCurve> curves = plot_of(*plot).curves;
    const auto has = [](Role role) { return [role](const PlotCurve& curve) { return curve.role == role; }; };
    std::erase_if(curves, has(Role::printed));
    const bool single = std::count_if(curves.begin(), curves.end(), has(Role::measured)) == 1;
    int number = 0;
    for (PlotCurve& curve : curves) {
      curve.label = single && curve.role == Role::measured ? run : run + ": " + curve.label;
      curve.run = run;
      curve.colour = first + (single ? 0 : number++);
      all.curves.push_back(std::move(curve));
    }
    first += single ? 1 : number;
  }
  return all;
}

Plot plot_named(const Json& runs, const std::string& name) {
  std::vector<Named> found;
  std::vector<std::string> known;
  std::set<std::string> programs;
  for (const Json& run : runs)
    for (const Json& plot : run.at("plots")) {
      const std::string key = plot.at("key"), full = run.at("name").get<std::string>() + "." + key;
      if (full == name) return plot_of(plot);
      known.push_back(full);
      if (key != name) continue;
      found.push_back({run.at("name"), run.at("program"), &plot});
      programs.insert(run.at("program"));
    }
  check(!found.empty(), "--svg: wanted one of {}, got '{}'{}", fmt::join(known, ", "), name,
        did_you_mean(name, known));
  check(programs.size() == 1, "--svg: {} have a plot '{}'; name the run before it, with a dot: {}.{}",
        fmt::join(programs, " and "), name, found.front().run, name);
  return found.size() == 1 ? plot_of(*found.front().plot) : overlaid(found);
}

}  // namespace isobar::report
