// Which plot of which run: one, or the same of several runs laid over each other.
#pragma once

#include <string>
#include <vector>

#include "../harness/plot.h"

namespace isobar::report {

struct Named {
  std::string run, program;
  const Json* plot;
};

// One plot of them all. A run with one measured curve lends it its name; printed values are left out. Each
// curve has its run and a colour.
Plot overlaid(const std::vector<Named>& plots);

// The plot "run.key" of these runs (Content::runs()), or "key" where it is not ambiguous: of several runs of
// one study it is one plot of them all. Throws Error otherwise, with the nearest name.
Plot plot_named(const Json& runs, const std::string& name);

}  // namespace isobar::report
