// The charts of runs and claims as the page shows them, in both languages, without a script; and as files.
#pragma once

#include "../run/plot.h"
#include "../run/stats.h"
#include "charts/charts.h"

namespace isobar::report {

// One SVG file, light or dark as its reader's machine is, in "en" or "zh". Throws Error without content.
std::string figure_svg(Plot plot, const std::string& lang = "en",
                       const charts::Look& look = {.width = 728, .height = 320, .labelled = true});

// A figure for each chart of a run (Content::runs()): drawn at two widths, of which the style sheet shows
// one, and its values as a table, from which a script reads them. data-run; data-bears: the pieces of keys.
charts::Markup figures_of(const Json& run);
// The charts that several runs of one study have, over each other, where the reader named one of these runs.
charts::Markup comparisons(const Json& runs);

// The claims for a browser without scripts, as a table with a small chart of each part in a span: data-strip
// is "claim part", counted from 0, or "claim series" where parts are layers. The longest is a figure "hero".
charts::Markup claims_table(const Json& claims);

// Where a chart of a ladder ends: the range of its values with its own length on either side. Of few seeds an interval
// may be a hundred times as long, and would leave the values a line.
Range view_of(const std::vector<double>& values);

// --- Which plot of which run: one, or the same of several runs laid over each other.

struct Named {
  std::string run, program;
  const Json* plot;
};

// One plot of them all, each curve with its run and a colour. A single measured curve has its run's name.
Plot overlaid(const std::vector<Named>& plots);

// The plot "run.key" of these runs (Content::runs()), or "key" where it is not ambiguous: of several runs of
// one study it is one plot of them all. Throws Error otherwise, with the nearest name.
Plot plot_named(const Json& runs, const std::string& name);

}  // namespace isobar::report
