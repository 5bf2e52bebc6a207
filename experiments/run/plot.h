// Charts of a run as they stand in its summary.json.
#pragma once

#include "../page/charts/plot.h"
#include "json.h"

namespace isobar {

// {"key": …, "title": …, "title_zh": …, "x": …, "y": …, "log": …, "figures": […], "ticks": […], "curves":
// [{"label": …, "role": "measured", "points": [[x, low, y, high], …]}]}; where there is no band, low and high
// are y; "…_zh" where Chinese differs. Throws Error when lengths differ.
Json to_json(const Plot& plot);
// The same fields. Throws Error unless there is a value for each row and column.
Json to_json(const Heatmap& heatmap);
// The same fields; shares are rounded to 1e-4. Throws Error unless each step, module and bin has one.
Json to_json(const Ridges& ridges);

// And back, of anybody's file: Throws Error where a field is missing or of another type.
Plot plot_of(const Json& json);
Heatmap heatmap_of(const Json& json);
Ridges ridges_of(const Json& json);

}  // namespace isobar
